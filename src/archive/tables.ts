import { parseEnvelope, readHeader } from '../../events/stored/envelope.js'

/** The tables of an export, each in a folder of its own. */
export const archiveTables = ['events', 'predictions', 'outcomes', 'answers'] as const
export type ArchiveTable = (typeof archiveTables)[number]

const typeOf = { predictions: 'PredictionsServed', outcomes: 'OutcomesReported', answers: 'AgentAnswered' } as const

/** The columns of `events` whose values come from the event's text, in the order of `fieldsOf`. */
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

/** The values of the columns as texts; `recorded_at` has the format of events. */
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

/** The rows of a table, from a relation with the rows of `events`. */
export const selectOf = (table: ArchiveTable, events: string): string =>
  table === 'events'
    ? `SELECT * FROM ${events}`
    : `SELECT position, stream, version, schema, recorded_at, actor, source, request, correlation, causation, data FROM ${events} WHERE type = '${typeOf[table]}'`

const span = (from: number, to: number): string => `${String(from).padStart(12, '0')}-${String(to).padStart(12, '0')}`

/** The folder of the manifests of ranges. */
const rangeFolder = 'ranges'

/** The folders of an export. */
export const archiveFolders = [...archiveTables, rangeFolder]

/** The name of a range's file. `fileName('events', 1, 100)` → `events/000000000001-000000000100.parquet` */
export const fileName = (table: ArchiveTable, from: number, to: number): string => `${table}/${span(from, to)}.parquet`

/** The name of a range's manifest. `rangeName(1, 100)` → `ranges/000000000001-000000000100.json` */
export const rangeName = (from: number, to: number): string => `${rangeFolder}/${span(from, to)}.json`

const fileInFolder = /^(\d{12})-(\d{12})\.(parquet|json)$/

/** The range in a file's name; undefined for a name that no export gives. */
export const rangeOfFile = (folder: string, file: string): { from: number; to: number } | undefined => {
  const [, from = '', to = '', kind] = fileInFolder.exec(file) ?? []
  return kind === (folder === rangeFolder ? 'json' : 'parquet') ? { from: Number(from), to: Number(to) } : undefined
}

/** The end of the range that begins after a position, in an export of a size. `rangeEnd(20, 50, 20)` → 40 */
export const rangeEnd = (after: number, size: number, rangePositions: number): number => Math.min(after + rangePositions, size)

/** Whether an export of a size has this range. */
export const isInExport = ({ from, to }: { from: number; to: number }, size: number, rangePositions: number): boolean =>
  from <= size && (from - 1) % rangePositions === 0 && to === rangeEnd(from - 1, size, rangePositions)
