import { parseEnvelope, readHeader } from '../../events/stored/envelope.js'

/** The tables of an export, each in a folder of its own. */
export const archiveTables = ['events', 'predictions', 'outcomes', 'answers'] as const
export type ArchiveTable = (typeof archiveTables)[number]

const typeOf = { predictions: 'PredictionsServed', outcomes: 'OutcomesReported', answers: 'AgentAnswered' } as const

/** The columns of `events` whose values stand in the event's text, in the order of `fieldsOf`. */
export const fieldColumns = {
  position: 'BIGINT',
  stream: 'VARCHAR',
  version: 'BIGINT',
  type: 'VARCHAR',
  schema: 'BIGINT',
  recorded_at: 'TIMESTAMP',
  actor: 'VARCHAR',
  source: 'VARCHAR',
  request: 'VARCHAR',
  correlation: 'VARCHAR',
  causation: 'VARCHAR',
  data: 'VARCHAR',
} as const

/** The values of the columns as texts; `recorded_at` as events write it. */
export const fieldsOf = (text: string): (string | null)[] => {
  const e = parseEnvelope(text)
  const header = readHeader(text)
  if (!header) throw new TypeError(`the event at position ${e.position} does not have the usual form`)
  return [
    String(e.position),
    e.stream,
    String(e.version),
    e.type,
    String(e.schema),
    e.recorded_at,
    e.actor,
    e.source,
    e.request,
    e.correlation,
    e.causation,
    text.slice(header.dataAt, -1),
  ]
}

/** The rows of a table, from a relation that has those of `events`. */
export const selectOf = (table: ArchiveTable, events: string): string =>
  table === 'events'
    ? `SELECT * FROM ${events}`
    : `SELECT position, stream, version, schema, recorded_at, actor, source, request, correlation, causation, data FROM ${events} WHERE type = '${typeOf[table]}'`

/** The name of a range's file. `fileName('events', 1, 100)` → `events/000000000001-000000000100.parquet` */
export const fileName = (table: ArchiveTable, from: number, to: number): string =>
  `${table}/${String(from).padStart(12, '0')}-${String(to).padStart(12, '0')}.parquet`
