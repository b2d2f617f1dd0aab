import { DuckDBDateValue, DuckDBTimestampValue, type DuckDBAppender } from '@duckdb/node-api'
import { runOwn } from '../ast/checked-text.js'
import type { Session } from '../session/session.js'
import type { BoundModel, FutureRows, ScoringInput } from '../scoring/scoring-model.js'
import { checkAborted } from '../duckdb-connection/duckdb-connection.js'

/** The column with the time, in the table of the future rows that a model of series answers. */
export const timeColumn = 'ledger_time'
/** The column with one of the keys that identify a series, counted from 0. */
export const keyColumn = (index: number): string => `ledger_key_${index}`

/** A key's value in the form that its column had: all types except texts are stored as numbers. */
export const keySql = (index: number, type: ScoringInput['type']): string => {
  const held = keyColumn(index)
  switch (type) {
    case 'integer':
      return `CAST(${held} AS BIGINT)`
    case 'boolean':
      return `CAST(${held} AS BOOLEAN)`
    case 'date':
      return `DATE '1970-01-01' + CAST(${held} AS INTEGER)`
    case 'timestamp':
      return `make_timestamp(CAST(${held} * 1000 AS BIGINT))`
    case 'text':
    case 'number':
      return held
  }
}

const rowsPerTurn = 500

const timeTypes = { date: 'DATE', timestamp: 'TIMESTAMP', integer: 'BIGINT' } as const

const appendTime = (appender: DuckDBAppender, type: FutureRows['order']['type'], cell: number): void => {
  switch (type) {
    case 'date':
      appender.appendDate(new DuckDBDateValue(cell))
      return
    case 'timestamp':
      appender.appendTimestamp(new DuckDBTimestampValue(BigInt(cell) * 1000n))
      return
    case 'integer':
      appender.appendBigInt(BigInt(cell))
  }
}

const fill = async ({ connection, signal }: Session, table: string, future: FutureRows): Promise<void> => {
  const { order, keys } = future
  const columns = keys.map(({ type }, i) => `${keyColumn(i)} ${type === 'text' ? 'VARCHAR' : 'DOUBLE'}`)
  await runOwn(connection, `CREATE TEMP TABLE ${table} (${[`${timeColumn} ${timeTypes[order.type]}`, ...columns].join(', ')})`)
  const appender = await connection.createAppender(table, 'main', 'temp')
  let rows = 0
  for (const { cell, keys: values } of future.each()) {
    appendTime(appender, order.type, cell)
    for (const value of values) {
      if (value === null) appender.appendNull()
      else if (typeof value === 'string') appender.appendVarchar(value)
      else appender.appendDouble(value)
    }
    appender.endRow()
    if (++rows % rowsPerTurn > 0) continue
    // Lets other queries of this process run.
    await new Promise<void>((resolve) => setImmediate(resolve))
    checkAborted(signal)
  }
  appender.closeSync()
}

/** The name of a temporary table with the rows that a model of series answers; each run makes it once. */
export const futureTable = async (session: Session, { artefact }: BoundModel, future: FutureRows): Promise<string> => {
  const table = `ledger_future_${artefact.slice(0, 16)}`
  if (session.temporary.has(table)) return table
  const make = () => fill(session, table, future)
  await make()
  session.temporary.set(table, make)
  session.keep = false
  return table
}
