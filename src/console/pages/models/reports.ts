import { ApiError, json } from '../../api/request.js'
import { quoted, select, type Value } from '../../api/sql.js'

/** A version of a model as the API has it. */
export type ModelRecord = {
  name: string
  version: number
  active: boolean
  predict: string
  status: string
  accuracy: number | null
  current_phase: string | null
  error: string | null
  data_source: string | null
  fetch_data_query: string | null
  training_time: number | null
  engine: string
  recording: string
  created_at: string
}

export type ModelName = { project: string; model: string }

/** Whether a version of a model with this status is still being trained. */
export const isUnderWay = (status: string): boolean => status === 'generating' || status === 'training'

/** Loads the active version of a model, or another version. @throws ApiError */
export const loadModel = (
  { project, model }: ModelName,
  version: number | undefined,
  at: string | undefined,
  signal: AbortSignal,
): Promise<ModelRecord> => {
  const name = version === undefined ? model : `${model}.${version}`
  return json<ModelRecord>(`projects/${encodeURIComponent(project)}/models/${encodeURIComponent(name)}`, { at, signal })
}

export type ListedVersion = {
  version: number
  active: boolean
  status: string
  accuracy: number | null
  engine: string
  tag: string | null
  rows: number | null
  seconds: number | null
  current_phase: string | null
  done: string | null
  total: string | null
  error: string | null
}

/** What the service says of a part that the engine of a version does not report, or that it does not know. SQL has no codes for errors. */
const isUnreported = (error: unknown, name: string): boolean =>
  error instanceof ApiError && error.status === 200 && new RegExp(`has no (?:attribute )?${name}(?:\\n|$)`).test(error.message)

/** A part of the report of a version; no rows if its engine does not report this part. @throws ApiError */
const part = async <T extends Record<string, Value>>(
  { project, model }: ModelName,
  version: number | undefined,
  name: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<T[]> => {
  const of = version === undefined ? quoted(model) : `${quoted(model)}.${version}`
  try {
    return await select<T>({ query: `DESCRIBE ${of}.${name}`, db: project, at, signal })
  } catch (error) {
    if (isUnreported(error, name)) return []
    throw error
  }
}

export type Metric = { metric: string; value: number; about: string }
export type Feature = { column: string; type: string; encoder: string; role: string }
export type Report = {
  metrics: Metric[]
  importances: { column: string; importance: number }[]
  features: Feature[]
  data: { fact: string; value: string; detail: string }[]
  plan: { name: string; value: string }[]
  classes: { class: string; rows: number; precision: number; recall: number }[]
  confusion: { actual: string; predicted: string; rows: number }[]
  calibration: { from: number; to: number; rows: number; confidence: number; accuracy: number }[]
  residuals: { rows: number; predicted: number; actual: number; rmse: number }[]
  coverage: { confidence: number; rows: number; coverage: number; mean_width: number }[]
  series: Record<string, Value>[]
}

/** The metrics and the training data of a version. @throws ApiError */
export const loadReport = async (
  model: ModelName,
  version: number | undefined,
  at: string | undefined,
  signal: AbortSignal,
): Promise<Report> => {
  const names = [
    'metrics',
    'importances',
    'features',
    'data',
    'plan',
    'classes',
    'confusion',
    'calibration',
    'residuals',
    'coverage',
    'series',
  ] as const
  const parts = await Promise.all(names.map((name) => part(model, version, name, at, signal)))
  return Object.fromEntries(names.map((name, i) => [name, parts[i] ?? []])) as unknown as Report
}

/** The settings of a version's training. @throws ApiError */
export const loadPlan = (model: ModelName, version: number, at: string | undefined): Promise<Report['plan']> =>
  part(model, version, 'plan', at, new AbortController().signal)

/** The trainings of a model, the newest first. @throws ApiError */
export const loadVersions = async (
  { project, model }: ModelName,
  at: string | undefined,
  signal: AbortSignal,
): Promise<ListedVersion[]> => {
  const [jobs, records] = await Promise.all([
    part<Omit<ListedVersion, 'active' | 'accuracy'>>({ project, model }, undefined, 'jobs', at, signal),
    select<Pick<ListedVersion, 'version' | 'active' | 'accuracy'>>({
      query: `SELECT VERSION AS version, ACTIVE AS active, ACCURACY AS accuracy FROM information_schema.models
        WHERE lower(PROJECT) = lower(:project) AND lower(NAME) = lower(:model)`,
      params: { project, model },
      ...{ at, signal },
    }),
  ])
  const recordOf = new Map(records.map((record) => [record.version, record]))
  return jobs
    .map((job) => {
      const { active = false, accuracy = null } = recordOf.get(job.version) ?? {}
      return { ...job, active, accuracy }
    })
    .toSorted((a, b) => b.version - a.version)
}
