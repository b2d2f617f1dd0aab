import { NumberText, type AstNode, type AstValue } from './json.js'
import { isNode, selectNode, star, subqueryRef, textOf } from './nodes.js'

/** Keys that say where something stood in a text, and not what it means. */
const unmeant = new Set(['query_location', 'parenthesized'])

/** DuckDB takes what a tree leaves out for one of these. */
const isNothing = (value: AstValue | undefined): boolean => {
  if (value === undefined || value === null || value === '' || value === false) return true
  return Array.isArray(value) && value.length === 0
}

/** `VALUES (1)` in FROM is printed in brackets, and read as the query `SELECT * FROM (VALUES (1)) AS valueslist`. */
const asRead = (values: AstNode): AstNode =>
  subqueryRef(selectNode([star('')], { ...values, alias: 'valueslist' }), textOf(values, 'alias'))

const isList = (node: AstNode): boolean => textOf(node, 'type') === 'EXPRESSION_LIST'

const sameNode = (read: AstNode, checked: AstNode): boolean => {
  if (isList(checked) && !isList(read)) return sameNode(read, asRead(checked))
  const keys = new Set([...Object.keys(read), ...Object.keys(checked)])
  for (const key of keys) if (!unmeant.has(key) && !sameTree(read[key], checked[key])) return false
  return true
}

/**
 * Whether a tree that was read from a printed text is the one that was printed.
 *
 * @example sameTree(await parseSelect(connection, text), tree) // true, or the text says something else
 */
export const sameTree = (read: AstValue | undefined, checked: AstValue | undefined): boolean => {
  if (isNothing(read) && isNothing(checked)) return true
  if (read instanceof NumberText && checked instanceof NumberText) return read.text === checked.text
  if (Array.isArray(read) && Array.isArray(checked))
    return read.length === checked.length && read.every((item, i) => sameTree(item, checked[i]))
  if (isNode(read) && isNode(checked)) return sameNode(read, checked)
  return read === checked
}
