import { ApiError } from '../../api/request.js'
import { quoted, select, type Statement, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { momentShown } from '../../basics/place.js'
import { shown } from '../../components/value.js'
import type { Feature, ModelName, ModelRecord, Report } from './reports.js'
import { loadTrainingRows, type TrainingRows } from './training-rows.js'

/** The field of a form for one input: a number in a range, one of several texts, or any text. */
export type Input = { name: string; type: string } & (
  | { form: 'number'; least: number; greatest: number; step: number; usual: number }
  | { form: 'choice'; choices: string[] }
  | { form: 'text'; example: string }
)

type Summary = { column_name: string; min: string | null; max: string | null; q50: string | null; approx_unique: number } & Record<
  string,
  Value
>

const choicesMax = 40

/** A step of 1, 2 or 5 times a power of ten, so that a slider has about a hundred steps. */
const stepOf = (least: number, greatest: number, isWhole: boolean): number => {
  const rough = (greatest - least) / 200
  if (rough <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power
  return isWhole ? Math.max(1, Math.round(step)) : step
}

const inputOf = ({ column, type }: Feature, summary: Summary | undefined, choices: string[] | undefined): Input => {
  const [least, greatest] = [Number(summary?.min ?? NaN), Number(summary?.max ?? NaN)]
  if ((type === 'integer' || type === 'number') && least < greatest) {
    const step = stepOf(least, greatest, type === 'integer')
    const usual = Math.round(Number(summary?.q50 ?? least) / step) * step
    return { name: column, type, form: 'number', least, greatest, step, usual: Number(usual.toPrecision(12)) }
  }
  if (type === 'boolean') return { name: column, type, form: 'choice', choices: ['true', 'false'] }
  if (choices) return { name: column, type, form: 'choice', choices }
  return { name: column, type, form: 'text', example: summary?.min ?? '' }
}

/** The inputs of a version, the rows of its training, and why these could not be read: then each input is a text. */
export type Inputs = { inputs: Input[]; training: TrainingRows | undefined; unread: ApiError | undefined }

/** The values of the columns that have few, in order; one query reads all of them. */
const choicesOf = async (
  columns: readonly string[],
  rows: string,
  from: Omit<Statement, 'query'>,
): Promise<ReadonlyMap<string, string[]>> => {
  if (columns.length === 0) return new Map()
  const lists = columns.map((column, i) => `list(DISTINCT ${quoted(column)}) AS c${i}`).join(', ')
  const [found = {}] = await select<Record<string, Value>>({ query: `SELECT ${lists} FROM ${rows} AS rows_of_training`, ...from })
  const valuesOf = (value: Value | undefined): string[] => (Array.isArray(value) ? value.map(shown).sort() : [])
  return new Map(columns.map((column, i) => [column, valuesOf(found[`c${i}`]).slice(0, choicesMax)]))
}

/**
 * The inputs of a version, with the ranges of the rows that it learned from. It reads these rows twice at most.
 *
 * @throws ApiError when the service cannot be reached
 */
const loadInputs = async (
  of: ModelName,
  record: ModelRecord,
  { features, data }: Pick<Report, 'features' | 'data'>,
  at: string | undefined,
  signal: AbortSignal,
): Promise<Inputs> => {
  const wanted = features.filter(({ role }) => role !== 'target')
  const training = await loadTrainingRows(of, record, data, at, signal)
  const unknown = (unread?: ApiError): Inputs => ({ inputs: wanted.map((one) => inputOf(one, undefined, undefined)), training, unread })
  if (!training) return unknown()
  const { rows } = training
  const from = { at: training.at, readsOnly: true, signal }
  try {
    const summaries = await select<Summary>({ query: `SUMMARIZE SELECT * FROM ${rows} AS rows_of_training`, ...from })
    const known = new Map(summaries.map((one) => [one.column_name, one]))
    const hasFew = ({ column, type }: Feature) => type === 'text' && (known.get(column)?.approx_unique ?? Infinity) <= choicesMax
    const choices = await choicesOf(
      wanted.filter(hasFew).map(({ column }) => column),
      rows,
      from,
    )
    return { inputs: wanted.map((one) => inputOf(one, known.get(one.column), choices.get(one.column))), training, unread: undefined }
  } catch (error) {
    // The training data may be gone, but the model still predicts.
    if (error instanceof ApiError && error.status === 200) return unknown(error)
    throw error
  }
}

/** The inputs that were loaded last: both tabs of a version show them, and each look reads a whole table. */
let last: { of: string; found: Inputs } | undefined

/** The inputs of a version at the moment that is shown. */
export const useInputs = (of: ModelName, record: ModelRecord, report: Pick<Report, 'features' | 'data'>) => {
  const at = momentShown()
  const key = JSON.stringify([of.project, of.model, record.version, record.created_at, at ?? null])
  return useLoaded(
    async (signal) => {
      if (last?.of === key && !last.found.unread) return last.found
      const found = await loadInputs(of, record, report, at, signal)
      signal.throwIfAborted()
      last = { of: key, found }
      return found
    },
    [key],
  )
}

/** The values of a form as the row to send. Empty fields are unknown values. */
export const rowOf = (inputs: readonly Input[], values: ReadonlyMap<string, string>): Record<string, Value> =>
  Object.fromEntries(
    inputs.flatMap(({ name, form, type }) => {
      const text = values.get(name) ?? ''
      if (text === '') return []
      return [[name, form === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text]]
    }),
  )
