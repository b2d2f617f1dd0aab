import { setImmediate } from 'node:timers/promises'
import {
  ResultReturnType,
  StatementType,
  type DuckDBDataChunk,
  type DuckDBPreparedStatement,
  type DuckDBResult,
  type DuckDBType,
} from '@duckdb/node-api'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { readChecked, type CheckedText } from '../ast/checked-text.js'
import { rowsOf, type RowFormat } from '../../encode/chunks.js'
import { checkAborted, rollback } from '../duckdb-connection/duckdb-connection.js'
import type { Frame, ScoreCount } from '../../contract/select.js'
import type { BoundModel } from '../scoring/scoring-model.js'
import type { Session } from '../session/session.js'
import { withText } from '../session/sources.js'

/** Thrown when models must run before the query. No part of the answer has been sent then. */
export class TooManyRowsInside extends Error {}

/** Rows that depend on an outer query cannot be scored before it. */
export const tooManyAround = () =>
  new Problem(
    'query_limit',
    'Too many rows',
    `A subquery asks a model for more than ${limits.modelInsideMaxRows} rows of the query around it`,
    {
      hint: 'JOIN the model with the table instead.',
    },
  )

/** The number of rows that each version has scored, without the rows that are recorded one by one. */
export const scoredBy = (session: Session): ScoreCount[] => {
  const counts = new Map<string, ScoreCount>()
  const add = ({ stream: model, version }: BoundModel, rows: number) => {
    const key = `${model} ${version}`
    if (rows > 0) counts.set(key, { model, version, rows: (counts.get(key)?.rows ?? 0) + rows })
  }
  for (const { bound, memo, isServed } of session.run.uses.values()) if (!isServed) add(bound, memo.size)
  for (const { bound, rows, isServed } of session.staged) if (!isServed) add(bound, rows)
  return [...counts.values()]
}

/** DuckDB's name for a type: `DECIMAL(4,2)`, or the alias of a plain type, such as JSON. */
const typeName = (type: DuckDBType | undefined): string => type?.alias ?? String(type)

const tooLarge = (what: string) =>
  new Problem('query_limit', 'The result is too large', `The result has more than ${what}`, { hint: 'Add LIMIT, or aggregate.' })

/** The chunks of a result. While one chunk is written, the next one is fetched. */
async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  let coming = result.fetchChunk()
  try {
    for (let chunk = await coming; chunk && chunk.rowCount > 0; chunk = await coming) {
      coming = result.fetchChunk()
      // A reader that leaves early does not wait for this fetch, so its failure is caught here.
      coming.catch(() => undefined)
      yield chunk
    }
  } finally {
    await coming.catch(() => undefined)
  }
}

/** The text that DuckDB runs, and the format of the rows. */
type PrintedQuery = { text: CheckedText; format: RowFormat }

/**
 * The rows of a query. If an error occurs in the middle of a stream, DuckDB ends the stream without an error. Only the result reports it,
 * after its last row.
 */
export async function* framesOf(
  session: Session,
  prepared: DuckDBPreparedStatement,
  { text, format }: PrintedQuery,
): AsyncGenerator<Frame> {
  const result = await prepared.stream()
  const types = result.columnTypes()
  const columns = result.columnNames().map((name, i) => ({ name, type: typeName(types[i]) }))
  const isScored = session.staged.length > 0 && session.run.uses.size === 0
  const scores = session.run.uses.size > 0 && { scores: true as const }
  const scored = isScored && { scored: scoredBy(session) }
  const changes = session.answers.mayHaveChanged && { changes: true as const }
  yield { columns, ...scores, ...(session.served.length > 0 && { served: session.served }), ...scored, ...changes }
  let [rows, bytes] = [0, 0]
  for await (const chunk of chunksOf(result)) {
    checkAborted(session.signal)
    rows += chunk.rowCount
    if (rows > limits.resultMaxRows) throw tooLarge(`${limits.resultMaxRows} rows`)
    const written = rowsOf(chunk, types, format)
    bytes += written.length
    if (bytes > limits.resultMaxBytes) throw tooLarge(`${limits.resultMaxBytes} bytes`)
    yield { rows: written }
    await setImmediate()
  }
  if (result.returnType === ResultReturnType.INVALID) await explainBreak(session, text)
  yield { end: { rows, scored: scoredBy(session) } }
}

/** Finds the error that ended a query after its first rows: runs the query once more without returning rows. */
const explainBreak = async (session: Session, text: CheckedText): Promise<never> => {
  const { connection, signal, run } = session
  checkAborted(signal)
  if (run.gaveUp) throw session.mode === 'inside' ? new TooManyRowsInside() : tooManyAround()
  await session.refresh()
  const around = { before: 'EXPLAIN ANALYZE ', kind: StatementType.EXPLAIN }
  try {
    if (session.staged.length === 0) await withText(text, undefined, () => readChecked(connection, text, around), around.before.length)
  } finally {
    await rollback(connection)
  }
  throw new Problem('query_failed', 'The query failed', 'The query failed after its first rows')
}

/** Holds an answer back until it is complete. So no part of it has been sent if the models have too many rows. */
export async function* heldBack(frames: AsyncGenerator<Frame>): AsyncGenerator<Frame> {
  const held: Frame[] = []
  let bytes = 0
  for await (const frame of frames) {
    held.push(frame)
    bytes += 'rows' in frame ? frame.rows.length : 0
    if (bytes > limits.modelHeldMaxBytes) throw new TooManyRowsInside()
  }
  const last = held.at(-1)
  const scored = last && 'end' in last ? last.end.scored : []
  for (const frame of held) yield 'columns' in frame ? { ...frame, scored } : frame
}
