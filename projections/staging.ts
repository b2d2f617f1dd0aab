import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api'
import { catalogue, currentSchema, upcast } from '../events/catalogue/catalogue.js'
import { parseEnvelope, renderEnvelope, type Envelope, readKind } from '../events/stored/envelope.js'
import { anyForeign, isForeignType } from '../events/foreign.js'
import { erasedPayloadsOf, payloadsOf } from '../events/catalogue/references.js'
import { erasureKindsInTables } from '../events/records/log.js'
import { projections } from './all.js'
import { ProjectionError } from './problem.js'

/** One event as the log holds it. */
export type StoredEvent = { position: number; text: string }

/** A payload that could be read. */
export type StagedPayload = { hash: string; body: string }

// DuckDB parses the text: this costs less than JSON.parse and twelve calls per row.
export const takeApart = `CREATE OR REPLACE TEMP TABLE batch AS
  SELECT position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.actor, e.source, e.request, e.correlation, e.causation, e.traceparent,
    e.data
  FROM (
    SELECT position, from_json(text, '{"stream":"VARCHAR","version":"BIGINT","type":"VARCHAR","schema":"INTEGER",
      "recorded_at":"TIMESTAMP","actor":"VARCHAR","source":"VARCHAR","request":"VARCHAR","correlation":"VARCHAR",
      "causation":"VARCHAR","traceparent":"VARCHAR","data":"JSON"}') AS e
    FROM incoming
  )`

const kindOf = ({ position, text }: StoredEvent): { type: string; schema: number } => {
  const kind = readKind(text)
  if (!kind) throw new ProjectionError(position, 'its text is not that of an event')
  if (kind.position !== position) throw new ProjectionError(position, `its text was written for position ${kind.position}`)
  if (!catalogue.has(kind.type) && !isForeignType(kind.type))
    throw new ProjectionError(position, `this release knows no events of type ${kind.type}`)
  return kind
}

const parsed = ({ position, text }: StoredEvent): Envelope => {
  try {
    return parseEnvelope(text)
  } catch (error) {
    throw new ProjectionError(position, 'its text is not that of an event', error)
  }
}

const inTodaysSchema = (event: StoredEvent): string => {
  const envelope = parsed(event)
  const { type, schema } = envelope
  try {
    return renderEnvelope({ ...envelope, schema: currentSchema(type), data: upcast(type, schema, envelope.data) })
  } catch (error) {
    throw new ProjectionError(event.position, `${type} of schema version ${schema} does not become version ${currentSchema(type)}`, error)
  }
}

/**
 * A stored event, its text in today's schema, and the hashes of the payloads that its projection reads. `type` is the type for
 * projections: `foreign` for all foreign events.
 */
export type PreparedEvent = { position: number; type: string; stored: string; text: string; payloads: readonly string[] }

/** The types of events whose payloads become rows: some projection reads these payloads. */
const readingPayloads: ReadonlySet<string> = new Set(
  projections.filter(({ evolve }) => evolve.some((sql) => sql.includes('batch_payloads'))).flatMap(({ canHandle }) => canHandle),
)

/** The payloads that become rows: those that an event recorded, and those of rows from which an erasure removed something. */
const projectedPayloads = (event: StoredEvent, type: string): string[] => {
  if (!readingPayloads.has(type)) return []
  const { data } = parsed(event)
  if (type !== 'DataErased') return payloadsOf(type, data)
  // Searches lose all that was said of an erased document. Documents themselves, which may be many bytes, are not in the tables.
  if (data['what'] === 'documents') return []
  return erasureKindsInTables.some((kind) => kind === data['what']) ? erasedPayloadsOf(type, data).map(({ hash }) => hash) : []
}

/**
 * Brings a stored event to today's schema. It parses only events of an older version and events with a projected payload. It reads only the
 * beginning of all others; DuckDB refuses a text that is not JSON. Foreign events stay as they are.
 *
 * @example prepareEvent({ position: 1, text: '{"position":1,…' }) // { position: 1, type: 'SkillCreated', stored: '…', text: '…', payloads: [] }
 */
export const prepareEvent = (event: StoredEvent): PreparedEvent => {
  const { type, schema } = kindOf(event)
  if (isForeignType(type)) return { position: event.position, type: anyForeign, stored: event.text, text: event.text, payloads: [] }
  const text = schema === currentSchema(type) ? event.text : inTodaysSchema(event)
  return { position: event.position, type, stored: event.text, text, payloads: projectedPayloads({ ...event, text }, type) }
}

const append = async (connection: DuckDBConnection, table: string, columns: string, fill: (appender: DuckDBAppender) => void) => {
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${table}(${columns})`)
  const appender = await connection.createAppender(table, 'main', 'temp')
  fill(appender)
  appender.closeSync()
}

/** Gives a batch to the projections, as `batch`, and the payloads of types that have any, as `batch_payloads`. */
export const stage = async (
  connection: DuckDBConnection,
  batch: readonly PreparedEvent[],
  payloads: readonly StagedPayload[],
): Promise<void> => {
  await append(connection, 'incoming', 'position BIGINT, text VARCHAR', (appender) => {
    for (const { position, text } of batch) {
      appender.appendBigInt(BigInt(position))
      appender.appendVarchar(text)
      appender.endRow()
    }
  })
  await connection.run(takeApart)
  if (!batch.some(({ type }) => readingPayloads.has(type))) return
  await append(connection, 'batch_payloads', 'hash VARCHAR, body VARCHAR', (appender) => {
    for (const { hash, body } of payloads) {
      appender.appendVarchar(hash)
      appender.appendVarchar(body)
      appender.endRow()
    }
  })
}
