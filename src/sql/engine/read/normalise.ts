import type { AstNode } from '../ast/json.js'
import { NumberText } from '../ast/json.js'
import {
  become,
  call,
  cast,
  columnRef,
  isColumnRef,
  locationOf,
  nodeOf,
  nodesOf,
  placeOf,
  selectItems,
  textConstant,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import { serverVersion } from '../../../dialect/server-variables.js'

/** The meanings of words in a statement that name nothing in a table. */
export type Words = {
  /** The database for names without a database. database() returns it. */
  db: string
  /** The places of names in double quotes that are known to be no columns there: they are strings. */
  strings: ReadonlySet<string | number>
}

const answers = (db: string): Record<string, string> => ({
  database: db,
  schema: db,
  current_database: db,
  current_schema: db,
  version: serverVersion,
})

const isOfValue = (node: AstNode) => textOf(node, 'class') === 'FUNCTION'

/** DuckDB reads `name.upper()` as a function in the schema `name`, but it is a call on a column. */
const asMethod = (node: AstNode): void => {
  const path = [textOf(node, 'catalog'), textOf(node, 'schema')].filter((part) => part !== '')
  if (path.length === 0 || (path.length === 1 && path[0] === 'main')) return
  const changed = call(textOf(node, 'function_name'), columnRef(...path), ...nodesOf(node, 'children'))
  become(node, { ...node, children: changed['children'] ?? [], schema: '', catalog: '' })
}

const asAnswer = (node: AstNode, db: string, isItem: boolean): void => {
  const answer = answers(db)[textOf(node, 'function_name').toLowerCase()]
  if (answer === undefined || nodesOf(node, 'children').length > 0) return
  become(node, { ...textConstant(answer), ...placeOf(node), alias: textOf(node, 'alias') || (isItem ? textOf(node, 'function_name') : '') })
}

const asString = (node: AstNode, { db, strings }: Words, isItem: boolean): void => {
  const [name = '', second] = textsOf(node, 'column_names')
  if (second !== undefined) return
  const place = locationOf(node)
  const isString = place !== undefined && strings.has(place)
  const text = isString ? name : /^current_(catalog|schema)$/i.test(name) ? db : undefined
  if (text !== undefined) become(node, { ...textConstant(text), ...placeOf(node), alias: textOf(node, 'alias') || (isItem ? name : '') })
}

/** DuckDB prints the DOUBLE 1e3 as 1000.0, but reads 1000.0 as a DECIMAL. It prints 1e400 as Infinity, but cannot read that. */
const asDouble = (node: AstNode): void => {
  const constant = nodeOf(node, 'value')
  const value = constant?.['value']
  const isDouble = constant !== undefined && textOf(nodeOf(constant, 'type') ?? {}, 'id') === 'DOUBLE'
  if (!isDouble || !(value instanceof NumberText)) return
  become(node, { ...cast(textConstant(value.text), 'DOUBLE'), ...placeOf(node), alias: textOf(node, 'alias') })
}

/**
 * Simplifies a tree with marked places before the checks: methods become calls, MySQL's questions about the session become their answers,
 * and names in double quotes that are no columns become strings.
 */
export const normalise = (tree: AstNode, words: Words): void => {
  const items = selectItems(tree)
  walk(tree, (node) => {
    if (isOfValue(node)) {
      asMethod(node)
      asAnswer(node, words.db, items.has(node))
    } else if (isColumnRef(node)) asString(node, words, items.has(node))
    else if (textOf(node, 'class') === 'CONSTANT') asDouble(node)
    return true
  })
}
