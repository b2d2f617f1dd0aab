/** Room: what a query may hold, and the last check of its tables. It imports only basics, dialect, sql/engine/ast and sql/engine/session. */

import { Problem } from '../../../basics/errors.js'
import { similarName } from '../../../dialect/names.js'
import { NumberText, type AstNode, type AstValue } from '../ast/json.js'
import { isExpression, isNode, nodeOf, textOf, walk } from '../ast/nodes.js'
import { withPlace } from '../session/sources.js'
import { functionLists, isRefusedPattern } from './function-lists.js'

/** The type name behind ON x IN when a PIVOT lists no values; with a number when a query gives the values. */
export const pivotValues = 'ledger_pivot_values'

/** Whether the name of a type is such a name. */
export const isPivotValues = (name: string): boolean => name === pivotValues || /^ledger_pivot_values_[0-9]+$/.test(name)

const set = (text: string) => new Set(text.split(/\s+/).filter((word) => word !== ''))

/** Everything that a tree may hold. The guard refuses anything else, including new features of a later DuckDB. */
const allowedClasses = set(`
  BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR
  POSITIONAL_REFERENCE STAR SUBQUERY WINDOW`)
const allowedTypes = set(`
  SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE
  BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY PIVOT SHOW_REF
  ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER
  ORDER_DEFAULT ASCENDING DESCENDING
  ARRAY_TYPE_INFO DECIMAL_TYPE_INFO GENERIC_TYPE_INFO LIST_TYPE_INFO STRING_TYPE_INFO STRUCT_TYPE_INFO UNBOUND_TYPE_INFO INTEGER_LITERAL_TYPE_INFO`)

const shownOfQueries = set('DESCRIBE SUMMARY')

const refused = (what: string, hint?: string): Problem =>
  new Problem('refused_statement', 'The SQL statement is not allowed', `${what} is not allowed here`, hint === undefined ? {} : { hint })

const unknownFunction = (name: string): Problem => {
  const like = similarName(name, functionLists.values)
  return new Problem(
    'bad_statement',
    'Unknown function',
    `There is no function ${name}`,
    like === undefined ? {} : { hint: `Did you mean ${like}?` },
  )
}

/** Alternatives for functions that users often try. */
const insteadOf = (name: string): string | undefined => {
  if (/^(?:read_|parquet_|sniff_csv$|glob$)/.test(name)) return 'Upload the file, PUT /api/files/name, and read it: FROM files.name.'
  if (/^(?:duckdb_|pragma_)/.test(name)) return 'information_schema has the tables and columns that there are.'
  return undefined
}

/** Refuses a function that is not on the list for its place: in an expression, or in FROM. */
const checkFunction = (node: AstNode, place: 'values' | 'rows'): void => {
  const name = textOf(node, 'function_name').toLowerCase()
  const schema = textOf(node, 'schema')
  if (textOf(node, 'catalog') !== '' || (schema !== '' && schema !== 'main'))
    throw refused(`The function ${schema}.${name}`, 'Write the name of a function without a schema.')
  if (functionLists[place].has(name)) return
  if (functionLists.refused.has(name) || isRefusedPattern(name)) throw refused(`The function ${name}`, insteadOf(name))
  if (functionLists.rows.has(name)) throw refused(`The function ${name} outside FROM`, `Write it in FROM: SELECT * FROM ${name}(…).`)
  if (functionLists.values.has(name))
    throw refused(
      `The function ${name} in FROM`,
      'FROM takes tables, and the functions range, generate_series, unnest, json_each, json_tree and repeat.',
    )
  throw unknownFunction(name)
}

const checkReference = (node: AstNode): void => {
  switch (textOf(node, 'type')) {
    case 'TABLE_FUNCTION': {
      const made = nodeOf(node, 'function')
      if (!made || textOf(made, 'class') !== 'FUNCTION') throw refused('This table function')
      checkFunction(made, 'rows')
      return
    }
    case 'PIVOT':
      checkPivots(node['pivots'])
      return
    case 'SHOW_REF':
      // For a query, it lists the columns, and the guard checks that query like any other. Without a query, it lists DuckDB's own tables.
      if (nodeOf(node, 'query') && shownOfQueries.has(textOf(node, 'show_type'))) return
      throw refused('SHOW inside a query', 'Send it as a statement of its own, or query information_schema.')
    default:
  }
}

/** The refusal of `PIVOT … ON x IN mood`. */
export const pivotOfType = (): Problem => refused('PIVOT … IN with the name of a type', 'List the values: IN (1, 2, 3).')

const checkPivots = (pivots: AstValue | undefined): void => {
  const isOurs = (name: string) => name === '' || isPivotValues(name)
  if (Array.isArray(pivots) && pivots.some((pivot) => isNode(pivot) && !isOurs(textOf(pivot, 'pivot_enum')))) throw pivotOfType()
}

const checkExpression = (node: AstNode): void => {
  const kind = textOf(node, 'class')
  if (kind === 'PARAMETER')
    throw new Problem('bad_statement', 'Parameter is not set', `Parameter is not set: ${textOf(node, 'identifier')}`)
  if (!allowedClasses.has(kind)) throw refused(`The expression ${kind}`)
  if (kind === 'FUNCTION') checkFunction(node, 'values')
  if (kind === 'WINDOW') checkFunction(node, 'values')
}

const checkType = (node: AstNode): void => {
  if (textOf(node, 'type') === 'UNBOUND_TYPE_INFO' && (textOf(node, 'schema') !== '' || textOf(node, 'catalog') !== ''))
    throw refused(`The type ${textOf(node, 'schema')}.${textOf(node, 'name')}`)
}

const checkNode = (node: AstNode, inFrom: boolean): void => {
  if (isExpression(node)) {
    if (!inFrom) withPlace(node, () => checkExpression(node))
    return
  }
  const type = textOf(node, 'type')
  withPlace(node, () => checkReference(node))
  if (type !== '' && !allowedTypes.has(type)) throw refused(`${type} in a query`)
  checkType(node)
}

/**
 * Refuses a tree that holds anything outside the lists: kinds of nodes, functions by their place, types, pivots. It does not check tables:
 * every table's name is looked up in the catalogue, and no other name reaches DuckDB.
 *
 * @example guard(await parseSelect(connection, 'SELECT getenv(\'HOME\')')) // throws: There is no function getenv
 */
export const guard = (value: AstValue, inFrom = false): void => {
  if (value === null || typeof value !== 'object' || value instanceof NumberText) return
  if (Array.isArray(value)) {
    for (const item of value) guard(item)
    return
  }
  checkNode(value, inFrom)
  const isTableFunction = textOf(value, 'type') === 'TABLE_FUNCTION'
  for (const [key, member] of Object.entries(value)) guard(member, isTableFunction && key === 'function')
}

const ownSchemas = set('ledger temp')
/** The names that this service's own statements define with WITH. */
const ownNames = set('projects fixed offered')

/**
 * The last check before a tree is run: every table in it must belong to this service. A name that the rewriting missed is refused here,
 * whatever it would mean to DuckDB.
 */
export const checkRewritten = (tree: AstNode): void => {
  walk(tree, (node) => {
    const table = textOf(node, 'table_name')
    const isFetched = /^ledger_connected_[0-9]+$/.test(textOf(node, 'catalog_name'))
    const isNamed = ownNames.has(table) || /^ledger_(?:cte_[0-9]+|own_[a-z]+)$/.test(table)
    const isOurs = ownSchemas.has(textOf(node, 'schema_name')) || isNamed || isFetched
    if (textOf(node, 'type') === 'BASE_TABLE' && !isExpression(node) && !isOurs) throw refused(`The table ${table}`)
    return true
  })
}
