import type { DuckDBConnection } from '@duckdb/node-api'
import { Problem } from '../../../basics/errors.js'
import { parseTime } from '../../../basics/times.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import { emptyRef, isColumnRef, nodeOf, selectNode, textOf, walk } from '../ast/nodes.js'
import type { AstNode } from '../ast/json.js'
import type { Directory } from './directory.js'
import { beyondHead, positionsUpTo } from '../../contract/as-of.js'

const example = "Write AT (VERSION => 42) or AT (TIMESTAMP => '2026-01-31 12:00:00')."
const refused = (detail: string, hint: string): Problem => new Problem('bad_statement', 'No such position', detail, { hint })
const noTime = (label: string): Problem =>
  refused(`${label} is no time`, "Write '2026-01-31 12:00:00', with a zone such as '+02:00' if it is not UTC, or a TIMESTAMP or DATE.")

/** The inputs for reading an AT: a connection to compute it, the range of the log, and the log's head and time when the query came. */
export type Clock = { connection: DuckDBConnection; directory: Directory; head: number; askedAt: number }

/** The name of a value in an answer: `AT (VERSION => 41)` for one in a statement, `as_of 41` for one in a request. */
type Label = (value: string) => string

/** The position as a whole number between the log's first event and the head. */
const positionIn = (shown: string, head: number, label: Label): number => {
  const [, whole] = /^([+-]?\d{1,38})(?:\.0+)?$/.exec(shown) ?? []
  const hint = positionsUpTo(head)
  if (whole === undefined) throw refused(`${label(shown)} is no position: it must be a whole number`, hint)
  const value = BigInt(whole)
  if (value < 1n) throw refused(`${label(shown)} is before the start of the log`, hint)
  if (value > BigInt(head)) throw beyondHead(label(shown), head)
  return Number(value)
}

const positionAtTime = async ({ directory, head, askedAt }: Clock, microseconds: bigint, label: string): Promise<number> => {
  // The function now() has this machine's time with microseconds. The log's clock has no microseconds.
  const now = Math.max(Date.now(), askedAt)
  if (microseconds > BigInt(now + 1) * 1000n) throw refused(`${label} is in the future`, 'A time without a zone is UTC.')
  const position = await directory.positionAt(microseconds, head)
  if (position !== undefined) return position
  const began = await directory.timeOf(1)
  throw refused(
    `${label} is before the start of the log`,
    `${began === undefined ? '' : `The log begins at ${began} (UTC). `}A time without a zone is UTC.`,
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

type ComputedValue = { type: string; shown: string; microseconds: bigint | undefined }

/** The value of an expression; `microseconds` since 1970 when it is a time. A text or a time without a zone is read as UTC. */
const compute = async (connection: DuckDBConnection, expression: AstNode): Promise<ComputedValue> => {
  const text = await printSelect(connection, selectNode([{ ...expression, alias: 'v' }], emptyRef()))
  const before = 'SELECT typeof(v), v::VARCHAR, epoch_us(TRY_CAST(v::VARCHAR AS TIMESTAMPTZ)) FROM ('
  const [[type, shown, microseconds] = []] = await readChecked(connection, text, { before, after: ') AS t' })
  if (typeof shown !== 'string') throw refused('AT needs a value', example)
  return { type: String(type), shown, microseconds: typeof microseconds === 'bigint' ? microseconds : undefined }
}

const isNumber = (type: string) => /INT|^DECIMAL|^DOUBLE$|^FLOAT$/.test(type)
const isTime = (type: string) => /^(?:TIMESTAMP|DATE$)/.test(type)

const positionOfValue = async (clock: Clock, unit: 'VERSION' | 'TIMESTAMP', expression: AstNode, label: Label): Promise<number> => {
  const { type, shown, microseconds } = await compute(clock.connection, expression)
  if (unit === 'VERSION') {
    if (type === 'VARCHAR' || isNumber(type)) return positionIn(shown, clock.head, label)
    throw refused(`${label(shown)} is no position: it is a ${type}`, positionsUpTo(clock.head))
  }
  if ((type !== 'VARCHAR' && !isTime(type)) || microseconds === undefined) throw noTime(label(shown))
  return positionAtTime(clock, microseconds, label(shown))
}

/**
 * The log position that an AT clause names. The expression has passed the guard, and DuckDB computes it without any table.
 *
 * @example `AT (VERSION => 40)` → 40; `AT (TIMESTAMP => now() - INTERVAL 1 DAY)` → the head of yesterday
 */
export const positionOfAt = async (clock: Clock, clause: AstNode): Promise<number> => {
  const expression = nodeOf(clause, 'expr')
  const unit = textOf(clause, 'unit').toUpperCase()
  if (!expression || !isConstant(expression)) throw refused('AT takes a constant', 'Columns and subqueries are not allowed there.')
  if (unit !== 'VERSION' && unit !== 'TIMESTAMP') throw refused(`AT (${unit} => …) is unknown`, example)
  return positionOfValue(clock, unit, expression, (value) => `AT (${unit} => ${value})`)
}

/**
 * The position of a whole query. The position or time comes from the request, not from an AT: a time has the same formats as in requests to
 * REST.
 */
export const positionOfRequest = async (clock: Clock, asOf: number | string): Promise<number> => {
  const label = (value: string) => `as_of ${value}`
  const shown = String(asOf).trim()
  if (/^[+-]?\d+$/.test(shown)) return positionIn(shown, clock.head, label)
  const time = parseTime(shown)
  if (!time) throw noTime(label(shown))
  return positionAtTime(clock, BigInt(time.milliseconds) * 1000n + BigInt(time.microseconds), label(shown))
}
