import {
  listValue,
  StatementType,
  type DuckDBConnection,
  type DuckDBMaterializedResult,
  type DuckDBPreparedStatement,
  type DuckDBValue,
} from '@duckdb/node-api'
import { Problem } from '../../../basics/errors.js'
import { nameText, quoteText } from '../../../dialect/strings.js'
import { NumberText, parseAst, printAst, type AstNode, type AstValue, type TextReplacer } from './json.js'
import { isNode, nodeOf, nodesOf, selectNode, star, subqueryRef, textOf } from './nodes.js'

/** The keys of a tree that hold names of the user. */
const nameKeys = new Set([
  ...['alias', 'aliases', 'catalog_name', 'column', 'column_name_alias', 'column_names', 'cte_name', 'exclude_list', 'groups', 'key'],
  ...['relation_name', 'schema_name', 'table', 'table_name', 'unpivot_names', 'using_columns'],
])

/** Keys that also hold DuckDB's own words: `DECIMAL`, the `key` of a MAP, the collation `nocase`. */
const wordKeys = new Set(['catalog', 'collation', 'first', 'name', 'pivot_enum', 'schema'])

const word = /^[a-z_][a-z0-9_]*$/i

/** A constant has a type; the new name in `* RENAME (a AS b)` has none. */
const isText = ({ type }: AstNode): boolean => !isNode(type) || type['id'] === 'VARCHAR'

const prefix = 'ledger_name_'

const isHidden = (text: string, key: string, holder: AstNode): boolean => {
  if (text === '') return false
  if (key === 'value') return isText(holder)
  return nameKeys.has(key) || (wordKeys.has(key) && (!word.test(text) || text.includes(prefix)))
}

/** The tokens of a printed text that can hold a name: a string, a quoted name, a word. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[a-z_][a-z0-9_]*/gi

/**
 * The names and texts of a tree, each under a number. DuckDB prints the tree with `ledger_name_<number>` in their places, so that it prints
 * no name of a user. Afterwards the names are put back, in quotes where they need them.
 *
 * @example
 * const names = new HiddenNames()
 * names.hide('x y', 'relation_name', star) // 'ledger_name_0'
 * names.restore('SELECT ledger_name_0.*') // 'SELECT "x y".*'
 */
export class HiddenNames {
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()

  /** The printed name that replaces a text of the tree. The text is under a key of its holder. */
  readonly hide = (text: string, key: string, holder: AstNode): string => {
    if (!isHidden(text, key, holder)) return text
    const number = this.#numbers.get(text) ?? this.#texts.push(text) - 1
    this.#numbers.set(text, number)
    return prefix + String(number)
  }

  /** The printed text with the names put back; undefined if a name was printed as a part of something else. */
  restore(printed: string): string | undefined {
    const unknown: string[] = []
    const text = printed.replace(tokens, (token) => {
      if (!token.includes(prefix)) return token
      const quote = token.startsWith("'") || token.startsWith('"') ? 1 : 0
      const name = this.#named(token.slice(quote, token.length - quote))
      if (name === undefined) unknown.push(token)
      else if (token.startsWith("'")) return quoteText(name)
      else return nameText(name)
      return token
    })
    return unknown.length === 0 ? text : undefined
  }

  #named(placeholder: string): string | undefined {
    return placeholder.startsWith(prefix) ? this.#texts[Number(placeholder.slice(prefix.length))] : undefined
  }
}

/** An error of DuckDB's parser. Its position counts characters (code points); all other positions in DuckDB's errors count bytes. */
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

/** The values of a statement's parameters, by their places or by their names. */
export type OwnValues = DuckDBValue[] | Record<string, DuckDBValue>

/** Runs a statement of this service. It contains only numbers and names that this service made; texts of users are values. */
export const runOwn = async (connection: DuckDBConnection, sql: string, values: OwnValues = []): Promise<DuckDBMaterializedResult> => {
  const prepared = await connection.prepare(sql)
  try {
    prepared.bind(values)
    return await prepared.run()
  } finally {
    prepared.destroySync()
  }
}

/** The rows of a statement of this service. */
export const ownRows = async (connection: DuckDBConnection, sql: string, values?: OwnValues): Promise<DuckDBValue[][]> =>
  (await runOwn(connection, sql, values)).getRows()

const oneText = async (connection: DuckDBConnection, sql: string, parameter: string): Promise<string> => {
  const [[value] = []] = await ownRows(connection, sql, [parameter])
  if (typeof value !== 'string') throw new TypeError('DuckDB gave no syntax tree')
  return value
}

/**
 * DuckDB's own tree of a SELECT, as the query node. The text is only data here: DuckDB parses it and never runs it. Throws a ParseFailure
 * when it does not parse, is not a SELECT, or is several statements.
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

const statementOf = (node: AstNode, respell?: TextReplacer): string =>
  printAst({ error: false, statements: [{ node, named_param_map: [] }] }, respell)

declare const checked: unique symbol

/** The SQL text of a tree, with exactly the meaning of the tree for DuckDB. */
export type CheckedText = string & { readonly [checked]: true }

let aggregates: ReadonlySet<string> | undefined

/**
 * The names of aggregates. They are the same for every instance of DuckDB, and are read once. The result is kept, not the promise: the
 * reading may fail together with the query whose connection it uses, and such a failure must not reach other queries.
 */
export const aggregatesOf = async (connection: DuckDBConnection): Promise<ReadonlySet<string>> => {
  if (aggregates) return aggregates
  const reader = await connection.runAndReadAll("SELECT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'")
  return (aggregates = new Set(reader.getRows().map(([name]) => String(name).toLowerCase())))
}

const unfaithful = (): Problem =>
  new Problem(
    'refused_statement',
    'The SQL statement is not allowed',
    'DuckDB would understand this statement differently from the way it was checked',
    {
      hint: 'Give tables and columns plain names with AS, and split the statement into simpler parts with WITH.',
    },
  )

const sameAs = async (connection: DuckDBConnection, text: string, node: AstNode): Promise<boolean> => {
  try {
    return sameTree(await parseSelect(connection, text), node)
  } catch (error) {
    if (error instanceof ParseFailure) return false
    throw error
  }
}

/**
 * The SQL text of a tree. DuckDB runs no other text. The tree is printed without the names that users chose, because DuckDB does not quote
 * them everywhere. The text is parsed again: its tree must be the tree that was checked.
 *
 * @throws Problem refused_statement when the trees differ
 * @example await printSelect(connection, await parseSelect(connection, 'SELECT "x y".* FROM t AS "x y"'))
 */
export const printSelect = async (connection: DuckDBConnection, node: AstNode): Promise<CheckedText> => {
  const names = new HiddenNames()
  const printed = await oneText(connection, 'SELECT json_deserialize_sql($1::JSON)', statementOf(node, names.hide))
  const text = names.restore(printed)
  if (text === undefined || !(await sameAs(connection, text, node))) throw unfaithful()
  return text as CheckedText
}

/** The texts of several trees as DuckDB would show them, in their order. They only serve as names of columns: DuckDB does not run them. */
export const showSelects = async (connection: DuckDBConnection, nodes: readonly AstNode[]): Promise<string[]> => {
  const sql = 'SELECT json_deserialize_sql(tree) FROM (SELECT unnest($1::JSON[]) AS tree)'
  const rows = await ownRows(connection, sql, [listValue(nodes.map((node) => statementOf(node)))])
  return rows.map(([text]) => (typeof text === 'string' ? text : ''))
}

/** Our own SQL before and after a checked query, and the kind of the whole statement: a SELECT unless another kind is given. */
export type QueryWrapper = { before?: string; after?: string; kind?: StatementType }

/**
 * Prepares a checked query with our own SQL around it. DuckDB prepares one statement at a time, and reports the kind of the statement.
 *
 * @throws Error of DuckDB when it cannot be planned; TypeError when it is of another kind
 * @example await prepareChecked(connection, text, { before: 'EXPLAIN ', kind: StatementType.EXPLAIN })
 */
export const prepareChecked = async (
  connection: DuckDBConnection,
  text: CheckedText,
  { before = '', after = '', kind = StatementType.SELECT }: QueryWrapper = {},
): Promise<DuckDBPreparedStatement> => {
  const prepared = await connection.prepare(`${before}${text}${after}`)
  if (prepared.statementType === kind) return prepared
  prepared.destroySync()
  throw new TypeError('a query became a statement of another kind')
}

/** Runs a checked query to its end and returns its rows. */
export const readChecked = async (connection: DuckDBConnection, text: CheckedText, around?: QueryWrapper): Promise<DuckDBValue[][]> => {
  const prepared = await prepareChecked(connection, text, around)
  try {
    return (await prepared.runAndReadAll()).getRows()
  } finally {
    prepared.destroySync()
  }
}

/** Keys with the place of a node in a text. They have no effect on the meaning. */
const unmeant = new Set(['query_location', 'parenthesized'])

/** DuckDB reads a missing key of a tree as one of these values. */
const isNothing = (value: AstValue | undefined): boolean => {
  if (value === undefined || value === null || value === '' || value === false) return true
  return Array.isArray(value) && value.length === 0
}

/** `VALUES (1)` in FROM is printed in brackets, and read as the query `SELECT * FROM (VALUES (1)) AS valueslist`. */
const asRead = (values: AstNode): AstNode =>
  subqueryRef(selectNode([star('')], { ...values, alias: 'valueslist' }), textOf(values, 'alias'))

/** Lists of a star that DuckDB keeps without an order: each parse may give another order. */
const unordered = new Set(['exclude_list', 'qualified_exclude_list', 'replace_list', 'rename_list'])

/** The column that an item of such a list names. */
const columnOf = (item: AstValue | undefined): string => {
  if (!isNode(item)) return typeof item === 'string' ? item : ''
  const { key } = item
  return key === undefined ? JSON.stringify(['catalog', 'schema', 'table', 'column'].map((part) => textOf(item, part))) : columnOf(key)
}

/** The value of a key; a list without an order is sorted by its columns. */
const inOrder = (key: string, value: AstValue | undefined): AstValue | undefined => {
  if (!unordered.has(key) || !Array.isArray(value)) return value
  const named = value.map((item) => ({ item, column: columnOf(item) }))
  return named.sort((a, b) => (a.column < b.column ? -1 : 1)).map(({ item }) => item)
}

const isList = (node: AstNode): boolean => textOf(node, 'type') === 'EXPRESSION_LIST'

const sameNode = (read: AstNode, checked: AstNode): boolean => {
  if (isList(checked) && !isList(read)) return sameNode(read, asRead(checked))
  const keys = new Set([...Object.keys(read), ...Object.keys(checked)])
  for (const key of keys) if (!unmeant.has(key) && !sameTree(inOrder(key, read[key]), inOrder(key, checked[key]))) return false
  return true
}

/**
 * Whether the tree of a printed text is the tree that was printed.
 *
 * @example sameTree(await parseSelect(connection, text), tree) // true, or the text says something else
 */
const sameTree = (read: AstValue | undefined, checked: AstValue | undefined): boolean => {
  if (isNothing(read) && isNothing(checked)) return true
  if (read instanceof NumberText && checked instanceof NumberText) return read.text === checked.text
  if (Array.isArray(read) && Array.isArray(checked))
    return read.length === checked.length && read.every((item, i) => sameTree(item, checked[i]))
  if (isNode(read) && isNode(checked)) return sameNode(read, checked)
  return read === checked
}
