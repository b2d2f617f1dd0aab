import type { DuckDBConnection } from '@duckdb/node-api'
import { parseSelect } from './checked-text.js'
import { cloneAst, type AstNode } from './json.js'
import { become, nodesOf, textOf, walk } from './nodes.js'

const trees = new Map<string, AstNode>()

const parsed = async (connection: DuckDBConnection, sql: string): Promise<AstNode> => {
  const known = trees.get(sql)
  if (known) return known
  const tree = await parseSelect(connection, sql)
  trees.set(sql, tree)
  return tree
}

/**
 * The tree of one of our own statements. Trees replace its `$name` parameters. Each process parses a statement once; there are as many
 * statements as relations and outputs of models.
 */
export const template = async (connection: DuckDBConnection, sql: string, values: Readonly<Record<string, AstNode>>): Promise<AstNode> => {
  return fillParameters(cloneAst(await parsed(connection, sql)), values)
}

/** Puts trees in the place of a tree's `$name` parameters. */
export const fillParameters = (tree: AstNode, values: Readonly<Record<string, AstNode>>): AstNode => {
  walk(tree, (node) => {
    if (textOf(node, 'class') !== 'PARAMETER') return true
    const value = values[textOf(node, 'identifier')]
    if (!value) throw new TypeError(`a template has no value for ${textOf(node, 'identifier')}`)
    become(node, { ...cloneAst(value), alias: textOf(node, 'alias') })
    return false
  })
  return tree
}

/** The first item of a template that selects one expression. */
export const expressionTemplate = async (
  connection: DuckDBConnection,
  sql: string,
  values: Readonly<Record<string, AstNode>>,
): Promise<AstNode> => {
  const [item] = nodesOf(await template(connection, `SELECT ${sql}`, values), 'select_list')
  if (!item) throw new TypeError('a template selects nothing')
  return item
}
