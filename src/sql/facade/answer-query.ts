import { streamId, type StreamId } from '../../../events/common.js'
import type { Log, Origin } from '../../log/contract/log.js'
import type { PredictionRecorder } from '../../models/serving/recorder.js'
import { rowsFrom, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import type { AsOf } from '../contract/as-of.js'
import type { RowFormat } from '../encode/chunks.js'
import { cutSecretsInTurns } from '../../dialect/secrets.js'
import type { Wanted } from '../contract/wanted.js'
import type { Parameters, Span } from '../statements/statement.js'

/** A SELECT on its way to the analytics process. */
export type AnalyticsRequest = {
  sql: string
  db: string
  defaultProject: string
  upTo: number
  /** An earlier position that all of it reads at. */
  asOf?: AsOf
  params?: Parameters
  /** The time it may take, where that is not `sqlTimeoutMs`. */
  timeoutMs?: number
  /** Who asks. */
  user?: string
  /** The part of `sql` that is the query, when it stands in another statement. */
  within?: Span
  wanted?: Wanted
  format?: RowFormat
}

/** Which version of a model scored how many rows of a query. */
type Scored = { model: string; version: number; rows: number }

/** What comes back: rows in chunks of comma-joined JSON arrays, or of lines of CSV; `end` is there when they were read to their end. */
export type AnalyticsStream = {
  columns: readonly { name: string; type: string }[]
  /** Predictions of given rows, to be recorded before they are answered. */
  served?: unknown
  /** What was scored, where it is known before the first row; otherwise it is told at the end. */
  scored?: Scored[]
  rows: AsyncGenerator<Buffer, void, void>
  end: () => { rows: number; scored: Scored[] }
}

/** Whatever answers SELECTs: the analytics process, or a stand-in for it. */
export type Analytics = {
  query: (request: AnalyticsRequest, options: { signal?: AbortSignal | undefined; client?: string | undefined }) => Promise<AnalyticsStream>
}

type Query = {
  /** The statement as it was sent, and the SELECT it became. */
  query: string
  sql: string
  within?: Span | undefined
  wanted?: Wanted | undefined
  params?: Parameters | undefined
  format?: RowFormat | undefined
  context: SqlContext
  /** The position of the past to read at. */
  position?: number | undefined
  origin: Origin
  client?: string | undefined
  signal?: AbortSignal
  log: Pick<Log, 'head'>
  analytics: Analytics
  recorder: Pick<PredictionRecorder, 'records' | 'served' | 'scored'>
  defaultProject: string
}

type ServedRows = { model: StreamId; version: number; rows: { input: object; output: object }[] }

const isStreamId = (value: unknown): value is StreamId => streamId.safeParse(value).success

const isServed = (value: unknown): value is ServedRows =>
  typeof value === 'object' &&
  value !== null &&
  isStreamId(Reflect.get(value, 'model')) &&
  typeof Reflect.get(value, 'version') === 'number' &&
  Array.isArray(Reflect.get(value, 'rows'))

/** Records predictions of given rows; they may be answered when this is done. */
const recordServed = async ({ served }: AnalyticsStream, { recorder, origin }: Query, readAt: number): Promise<number[]> => {
  if (served === undefined) return []
  const all = Array.isArray(served) ? (served as unknown[]) : [served]
  const positions = await Promise.all(
    all.map(async (one) => {
      if (!isServed(one)) throw new TypeError('predictions came in another shape than they are recorded in')
      if (!(await recorder.records(one.model))) return []
      return [await recorder.served({ model: one.model, version: one.version, rows: one.rows, origin, readAt })]
    }),
  )
  return positions.flat()
}

/** Records scorings inside a query. */
const recordScored = async (scored: readonly Scored[], { recorder, origin, query }: Query, readAt: number): Promise<number[]> => {
  if (scored.length === 0) return []
  const statement = await cutSecretsInTurns(query)
  return Promise.all(
    scored.map(({ model, version, rows }) => {
      if (!isStreamId(model)) throw new TypeError('a scoring names no model')
      return recorder.scored({ model, version, origin, rows, statement, readAt })
    }),
  )
}

/** Passes the rows on; what they were scored by is known, and recorded, when they end. */
const withReceipts = (stream: AnalyticsStream, query: Query, readAt: number, positions: number[]): AsyncIterable<Buffer> => {
  const next = async () => {
    const chunk = await stream.rows.next()
    if (chunk.done === true) positions.push(...(await recordScored(stream.end().scored, query, readAt)))
    return chunk
  }
  return rowsFrom(next, stream.rows)
}

/** Runs a SELECT as the log is now. Resolves with its first rows, so that most failures are still an answer of their own. */
export const answerQuery = async (query: Query): Promise<SqlAnswer> => {
  const { sql, within, wanted, params, context, client, signal, log, analytics, defaultProject } = query
  // What is answered instead of rows is a few rows of our own.
  const format = wanted ? 'json' : (query.format ?? 'json')
  const { position: head } = await log.head()
  const { position = head } = query
  const request = {
    sql,
    db: context.db,
    defaultProject,
    upTo: head,
    user: query.origin.actor,
    format,
    ...(params && { params }),
    ...(within && { within }),
    ...(wanted && { wanted }),
    ...(position !== head && { asOf: position }),
  }
  const stream = await analytics.query(request, { signal, client })
  try {
    const positions = await recordServed(stream, query, position)
    if (stream.scored) positions.push(...(await recordScored(stream.scored, query, position)))
    const rows = stream.scored ? stream.rows : withReceipts(stream, query, position, positions)
    return { type: 'table', columns: stream.columns, rows, format, context, positions }
  } catch (error) {
    await stream.rows.return()
    throw error
  }
}
