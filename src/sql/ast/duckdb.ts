import { listValue, type DuckDBConnection } from '@duckdb/node-api'
import { parseAst, printAst, type AstNode } from './json.js'
import { isNode, nodeOf, nodesOf, textOf } from './nodes.js'

/** What DuckDB's parser said against a text. Its position counts characters (code points), unlike all others, which are bytes. */
export class ParseFailure extends Error {
  constructor(
    message: string,
    readonly kind: string,
    readonly characters: number | undefined,
    readonly statements = 1,
  ) {
    super(message)
    this.name = 'ParseFailure'
  }
}

const oneText = async (connection: DuckDBConnection, sql: string, parameter: string): Promise<string> => {
  const reader = await connection.runAndReadAll(sql, [parameter])
  const value = reader.getRows()[0]?.[0]
  if (typeof value !== 'string') throw new TypeError('DuckDB gave no syntax tree')
  return value
}

/**
 * DuckDB's own tree of a SELECT, as the query node. The text is only data here: it is parsed, never run.
 * Throws a ParseFailure when it does not parse, is not a SELECT, or is several statements.
 */
export const parseSelect = async (connection: DuckDBConnection, sql: string): Promise<AstNode> => {
  const tree = parseAst(await oneText(connection, 'SELECT json_serialize_sql($1::VARCHAR)', sql))
  if (!isNode(tree)) throw new TypeError('DuckDB gave no syntax tree')
  if (tree['error'] === true) {
    const characters = textOf(tree, 'position')
    throw new ParseFailure(textOf(tree, 'error_message'), textOf(tree, 'error_type'), characters === '' ? undefined : Number(characters))
  }
  const statements = nodesOf(tree, 'statements')
  const node = statements[0] && nodeOf(statements[0], 'node')
  if (!node || statements.length !== 1) throw new ParseFailure('only one statement is taken', 'parser', undefined, statements.length)
  return node
}

const statementOf = (node: AstNode): string => printAst({ error: false, statements: [{ node, named_param_map: [] }] })

/** The SQL text of a tree, which is the only text that DuckDB runs. */
export const printSelect = (connection: DuckDBConnection, node: AstNode): Promise<string> =>
  oneText(connection, 'SELECT json_deserialize_sql($1::JSON)', statementOf(node))

/** The texts of several trees, in their order. */
export const printSelects = async (connection: DuckDBConnection, nodes: readonly AstNode[]): Promise<string[]> => {
  const sql = 'SELECT json_deserialize_sql(tree) FROM (SELECT unnest($1::JSON[]) AS tree)'
  const reader = await connection.runAndReadAll(sql, [listValue(nodes.map(statementOf))])
  return reader.getRows().map(([text]) => (typeof text === 'string' ? text : ''))
}
