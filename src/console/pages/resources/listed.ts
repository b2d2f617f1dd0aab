import { select, type Value } from '../../api/sql.js'
import type { KindInfo } from '../../basics/kinds.js'
import { shown } from '../../components/value.js'
import { selectPart, type Part, type PartPlace } from '../../lists/parts.js'

/** A resource in a list of its kind, with the columns of that kind. */
export type ListedRow = { project: string | null; name: string; created_at: string } & Record<string, Value>

/** The table of a kind, which names the resources and their projects. */
const ofProjects = (table: string): string => `LEFT JOIN ${table} AS r ON r.PROJECT = part.project AND r.NAME = part.name`
const named = (table: string): string => `LEFT JOIN ${table} AS r ON r.NAME = part.name`

/** One row for each model: the version that answers, or else the newest, and the state of the newest. */
const models = `(SELECT PROJECT, NAME, STATUS, PREDICT, ACCURACY, VERSION,
    row_number() OVER (PARTITION BY PROJECT, NAME ORDER BY coalesce(ACTIVE AND STATUS = 'complete', false) DESC, VERSION DESC) AS choice,
    first_value(VERSION) OVER (PARTITION BY PROJECT, NAME ORDER BY VERSION DESC) AS newest,
    first_value(STATUS) OVER (PARTITION BY PROJECT, NAME ORDER BY VERSION DESC) AS newest_status
  FROM information_schema.models)`

/** The last provider that each agent was given: the tables of agents do not have it. */
const providers = `(SELECT DISTINCT ON (stream) stream, (data->>'provider') AS provider FROM log.events
  WHERE type IN ('AgentCreated', 'AgentUpdated') AND list_contains(json_keys(data), 'provider') ORDER BY stream, position DESC)`

/** The columns that the list of a kind shows besides the names, and where they come from. */
const details: Readonly<Record<string, { columns: string; joins: string }>> = {
  model: {
    columns: 'r.STATUS AS "status", r.PREDICT AS "predict", r.ACCURACY AS "accuracy", r.VERSION AS "version", r.newest, r.newest_status',
    joins: `${ofProjects(models)} AND r.choice = 1`,
  },
  agent: {
    columns: 'r.MODEL_NAME AS "model_name", p.provider',
    joins: `${ofProjects('information_schema.agents')} LEFT JOIN ${providers} AS p ON p.stream = part.stream`,
  },
  skill: { columns: 'r.TYPE AS "type"', joins: ofProjects('information_schema.skills') },
  chatbot: { columns: 'r."DATABASE" AS "database", r.IS_RUNNING AS "is_running"', joins: ofProjects('information_schema.chatbots') },
  knowledge_base: { columns: 'r.EMBEDDING_MODEL AS "embedding_model"', joins: ofProjects('information_schema.knowledge_bases') },
  view: { columns: 'left(r.QUERY, 200) AS "query"', joins: ofProjects('information_schema.views') },
  job: { columns: 'r.SCHEDULE_STR AS "schedule_str", r.NEXT_RUN_AT AS "next_run_at"', joins: ofProjects('information_schema.jobs') },
  file: { columns: 'r.ROW_COUNT AS "row_count"', joins: named('information_schema.files') },
  database: { columns: 'r.ENGINE AS "engine"', joins: `${named('information_schema.databases')} AND r.TYPE = 'data'` },
}

const ofKind = `SELECT project, name, stream, created_at FROM log.resources
  WHERE kind = :kind AND (:project::VARCHAR IS NULL OR project = :project)`

/** What a newer version of a model than the active one does, for its status. */
const notYet: Readonly<Record<string, string>> = { generating: 'waits', training: 'is training', error: 'failed' }

/** The status of a model says what its newest version does, if another one answers. */
const withNewest = (row: ListedRow): ListedRow => {
  const { version = null, newest = null, newest_status: status = null } = row
  const state = version === newest ? undefined : notYet[shown(status)]
  return state === undefined ? row : { ...row, status: `${shown(row['status'])}, version ${shown(newest)} ${state}` }
}

/** The resources of a kind, of one project or of all, whose names have a text in them. */
export type Wanted = { info: KindInfo; project: string | null; filter: string }

/** A part of a list of resources, sorted by project and name. @throws ApiError */
export const readListed = async (
  { info: { kind }, project, filter }: Wanted,
  place: PartPlace,
  signal: AbortSignal,
): Promise<Part<ListedRow>> => {
  const part = await selectPart<ListedRow>(
    {
      query: `${ofKind} AND contains(lower(concat_ws(' ', project, name)), lower(:filter))`,
      params: { kind, project, filter },
      order: 'project, name',
      details: details[kind],
    },
    place,
    signal,
  )
  return { ...part, rows: part.rows.map(withNewest) }
}

/** The number of resources of a kind, with any name. @throws ApiError */
export const countListed = async (
  { info: { kind }, project }: Omit<Wanted, 'filter'>,
  at: string | undefined,
  signal: AbortSignal,
): Promise<number> => {
  const [found] = await select<{ n: number }>({ query: `SELECT count(*) AS n FROM (${ofKind})`, params: { kind, project }, at, signal })
  return found?.n ?? 0
}
