import type { Nondeterminism } from '../../contract/select.js'
import type { AstNode } from '../ast/json.js'
import { hasNode, isColumnRef, isQuery, nodeOf, nodesOf, textOf, textsOf, walk } from '../ast/nodes.js'

/** Functions whose values depend on more than their arguments. A test compares the list with DuckDB's information about its functions. */
const drawing = new Set(['random', 'uuid', 'uuidv4', 'uuidv7', 'gen_random_uuid', 'reservoir_quantile'])
const timely = new Set([
  ...['now', 'today', 'transaction_timestamp', 'get_current_time', 'get_current_timestamp', 'ago'],
  ...['current_date', 'current_time', 'current_timestamp', 'current_localtime', 'current_localtimestamp', 'localtime', 'localtimestamp'],
])
/** The functions of this list that SQL writes without brackets. A column may have such a name. Only the binding of names decides this. */
const bare = new Set(['current_date', 'current_time', 'current_timestamp', 'localtime', 'localtimestamp'])

const functionIn = (node: AstNode): string => (textOf(node, 'class') === 'FUNCTION' ? textOf(node, 'function_name').toLowerCase() : '')

const another = (name: string): string[] => [`${name} is another time each time`]

const timesIn = (node: AstNode): string[] => {
  if (isColumnRef(node)) {
    const [name = '', ...others] = textsOf(node, 'column_names').map((part) => part.toLowerCase())
    return others.length === 0 && bare.has(name) ? another(name) : []
  }
  const name = functionIn(node)
  // With one argument, age counts from today.
  return timely.has(name) || (name === 'age' && nodesOf(node, 'children').length === 1) ? another(`${name}()`) : []
}

/** LIMIT and DISTINCT ON take the first rows. Only ORDER BY decides which rows are first. */
const ofModifiers = (query: AstNode): string[] => {
  const modifiers = nodesOf(query, 'modifiers')
  const types = modifiers.map((modifier) => textOf(modifier, 'type'))
  if (types.includes('ORDER_MODIFIER')) return []
  const limited = types.includes('LIMIT_MODIFIER') || types.includes('LIMIT_PERCENT_MODIFIER')
  const distinct = modifiers.some((modifier) => nodesOf(modifier, 'distinct_on_targets').length > 0)
  return [
    ...(limited ? ['LIMIT without ORDER BY may take other rows'] : []),
    ...(distinct ? ['DISTINCT ON without ORDER BY may keep other rows'] : []),
  ]
}

const drawsIn = (node: AstNode): string[] => {
  const name = functionIn(node)
  return [
    ...(isQuery(node) ? ofModifiers(node) : []),
    // With several threads, each run draws another sample, even with a seed.
    ...(nodeOf(node, 'sample') ? ['a sample is drawn anew each time'] : []),
    ...(drawing.has(name) ? [`${name}() draws other values each time`] : []),
  ]
}

/**
 * Whether a query's tree may give other rows a moment later, from the same tables. The time alone is no reason: few queries have other rows
 * because of a second.
 *
 * @example isDrawn(await parseSelect(connection, 'SELECT id FROM t USING SAMPLE 5')) // true
 */
export const isDrawn = (tree: AstNode): boolean => hasNode(tree, (node) => drawsIn(node).length > 0)

/**
 * The parts of a query's tree that may give other rows in another run, each part once.
 *
 * @example nondeterminismIn(await parseSelect(connection, 'SELECT * FROM t LIMIT 5')) // [{ what: 'LIMIT without ORDER BY may take other rows', view: null }]
 */
export const nondeterminismIn = (tree: AstNode, view: string | null = null): Nondeterminism[] => {
  const found = new Set<string>()
  walk(tree, (node) => {
    for (const what of [...drawsIn(node), ...timesIn(node)]) found.add(what)
    return true
  })
  return [...found].map((what) => ({ what, view }))
}
