import type { DuckDBConnection } from '@duckdb/node-api'
import { Problem } from '../errors.js'
import { parseSelect, printSelect } from './ast/duckdb.js'
import { emptyRef, isColumnRef, nodeOf, selectNode, textOf, walk } from './ast/nodes.js'
import type { AstNode } from './ast/json.js'
import type { Directory } from './directory.js'

const refused = (detail: string, hint: string): Problem => new Problem('bad_statement', 'No such position', detail, { hint })

/** The position as a whole number between the log's first event and the head. */
const positionIn = (value: bigint, head: number): number => {
  const hint = `The log has the positions 1 to ${head}.`
  if (value < 1n) throw refused(`AT (VERSION => ${value}) is before the start of the log`, hint)
  if (value > BigInt(head)) throw refused(`AT (VERSION => ${value}) is beyond the head of the log`, hint)
  return Number(value)
}

/** What an AT needs to know: where to compute it, what the log holds, and its head for this query. */
export type Clock = { connection: DuckDBConnection; directory: Directory; head: number }

const positionAtTime = async ({ directory, head }: Clock, microseconds: bigint, shown: string): Promise<number> => {
  if (microseconds > BigInt(Date.now()) * 1000n) throw refused(`AT (TIMESTAMP => ${shown}) is in the future`, 'Times are UTC.')
  const position = await directory.positionAt(microseconds, head)
  if (position !== undefined) return position
  throw refused(
    `AT (TIMESTAMP => ${shown}) is before the start of the log`,
    'Times are UTC; SELECT min(recorded_at) FROM log.events tells the first.',
  )
}

const isConstant = (expression: AstNode): boolean => {
  let constant = true
  walk(expression, (node) => {
    if (textOf(node, 'class') === 'SUBQUERY' || textOf(node, 'class') === 'WINDOW' || isColumnRef(node)) constant = false
    return constant
  })
  return constant
}

const compute = async (
  connection: DuckDBConnection,
  expression: AstNode,
  type: 'BIGINT' | 'TIMESTAMP',
): Promise<[number: bigint, shown: string]> => {
  const text = await printSelect(connection, selectNode([{ ...expression, alias: 'v' }], emptyRef()))
  const value = type === 'BIGINT' ? 'v::BIGINT' : 'epoch_us(v::TIMESTAMP)'
  const reader = await connection.runAndReadAll(`SELECT ${value}, v::VARCHAR FROM (${text}) AS t`)
  const [number, shown] = reader.getRows()[0] ?? []
  if (typeof number !== 'bigint') throw refused('AT needs a value', "Write AT (VERSION => 42) or AT (TIMESTAMP => '2026-01-31 12:00:00').")
  return [number, typeof shown === 'string' ? shown : '']
}

/**
 * The log position that an AT clause names. The expression has passed the guard; it is computed by DuckDB alone.
 *
 * @example `AT (VERSION => 40)` → 40; `AT (TIMESTAMP => now() - INTERVAL 1 DAY)` → the head of yesterday
 */
export const positionOfAt = async (clock: Clock, clause: AstNode): Promise<number> => {
  const expression = nodeOf(clause, 'expr')
  const unit = textOf(clause, 'unit').toUpperCase()
  if (!expression || !isConstant(expression)) throw refused('AT takes a constant', 'Columns and subqueries are not allowed there.')
  if (unit === 'VERSION') return positionIn((await compute(clock.connection, expression, 'BIGINT'))[0], clock.head)
  if (unit === 'TIMESTAMP') return positionAtTime(clock, ...(await compute(clock.connection, expression, 'TIMESTAMP')))
  throw refused(`AT (${unit} => …) is unknown`, 'Write AT (VERSION => position) or AT (TIMESTAMP => time).')
}

/** The position of a whole query: a position or a time that stands in the request instead of in an AT. */
export const positionOfRequest = async (clock: Clock, asOf: number | string): Promise<number> => {
  if (typeof asOf === 'number') return positionIn(BigInt(Math.trunc(asOf)), clock.head)
  const node = await parseSelect(clock.connection, `SELECT '${asOf.replaceAll("'", "''")}'`)
  const [expression] = Array.isArray(node['select_list']) ? node['select_list'] : []
  return positionOfAt(clock, { unit: /^[0-9]+$/.test(asOf) ? 'VERSION' : 'TIMESTAMP', expr: expression ?? null })
}
