import type { Head } from '../../src/log/contract/log.js'

/** What a kept data directory answered when it was made. */
export type Golden = {
  release: string
  head: Head
  rest: Record<string, unknown>
  sql: Record<string, { column_names: string[]; data: unknown[][] }>
  /** The answer to `goldenRow`, number by number. */
  prediction: unknown
}

export const goldenRow = { size: 64, rooms: 2, district: 'harbour' }

export const goldenReads = [
  '/api/projects',
  '/api/databases/team_chat',
  '/api/files/',
  ...['skills', 'agents', 'chatbots', 'models', 'views'].map((kind) => `/api/projects/flats_shop/${kind}`),
]

/** Columns are named, so that a later release may have more of them. */
export const goldenQueries = [
  'SELECT name, project, type, params FROM skills',
  'SELECT name, project, model_name, skills, params FROM agents',
  'SELECT name, project, database, is_running, params FROM chatbots',
  'SELECT name, active, version, status, accuracy, predict, error, select_data_query FROM models',
  'SELECT name, query FROM views',
  'SELECT count(*) AS n, sum(size) AS size FROM large_flats',
  'SELECT size, rooms, district, rent FROM files.flats ORDER BY ALL LIMIT 5',
  'SELECT valid_from, valid_to, created_at, changed_at, changed_by, change, name, params FROM skills_history ORDER BY valid_from',
  'SELECT valid_from, valid_to, change, name, is_running FROM chatbots_history ORDER BY valid_from',
  'SELECT valid_from, change, name, version, status FROM models_history ORDER BY valid_from, version',
  'SELECT position, stream, version, type, recorded_at, actor, source FROM log.events ORDER BY position',
  'SELECT position, project, model, version, row, input, output, readable FROM log.predictions ORDER BY position',
  'SELECT position, project, model, version, rows, statement FROM log.prediction_receipts ORDER BY position',
  `SELECT name, params FROM shop.agents AT (VERSION => 14)`,
]
