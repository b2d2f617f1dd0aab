import { foldName, isObject, type Json, type JsonObject } from '../../../events/common.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { backQuoteName } from '../../dialect/strings.js'
import { allRows, type SqlAnswer } from '../../sql/contract/answer.js'
import { partsOfName } from '../../catalogue/names.js'

const metricNames = ['exact', 'result_set', 'judge'] as const
export type MetricName = (typeof metricNames)[number]

/** The settings of EVALUATE AGENT. Without metrics it uses every metric that has a column in the table. */
export type EvaluationSettings = {
  testTable: string
  version: number | undefined
  metrics: readonly MetricName[] | undefined
  /** The language model that judges: provider, model_name, base_url, api_key. */
  judge: JsonObject
  columns: { question: string; answer: string | undefined; sql: string | undefined }
}

/** A question, and what is expected: a text, a query, or neither. */
export type TestCase = { question: string; answer: string | null; sql: string | null }

const keys = ['test_table', 'version', 'metrics', 'judge', 'question_column', 'answer_column', 'sql_column']

const textOf = (using: JsonObject, key: string): string | undefined => {
  const value = using[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.trim() === '') throw wrong(`${key}: must be a text`)
  return value.trim()
}

const metricsOf = (value: Json | undefined): MetricName[] | undefined => {
  if (value === undefined || value === null) return undefined
  const listed = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value]
  const found = listed.map((name) => metricNames.find((known) => typeof name === 'string' && known === foldName(name.trim())))
  const known = found.filter((name) => name !== undefined)
  if (known.length < found.length || known.length === 0)
    throw wrong('metrics: there is no such metric', `There are ${metricNames.join(', ')}.`)
  return [...new Set(known)]
}

/** Reads the settings. @throws Problem that names the wrong setting */
export const evaluationSettings = (using: JsonObject): EvaluationSettings => {
  const other = Object.keys(using).find((key) => !keys.includes(key))
  if (other !== undefined) throw wrong(`USING has no option ${other}`, `It takes ${keys.join(', ')}.`)
  const { version, judge } = using
  const testTable = textOf(using, 'test_table')
  if (testTable === undefined) throw wrong('test_table is missing', "Write USING test_table = 'files.questions'.")
  if (version !== undefined && (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1))
    throw wrong('version: must be a version of the agent, from 1 on')
  if (judge !== undefined && !isObject(judge))
    throw wrong('judge: must be an object', `Write judge = {"provider": "openai", "model_name": "…"}; without it, default_llm judges.`)
  return {
    testTable,
    version,
    metrics: metricsOf(using['metrics']),
    judge: judge ?? {},
    columns: {
      question: textOf(using, 'question_column') ?? 'question',
      answer: textOf(using, 'answer_column'),
      sql: textOf(using, 'sql_column'),
    },
  }
}

const wordsIn = (cell: unknown): string | null =>
  cell === null || cell === undefined ? null : typeof cell === 'string' ? cell : JSON.stringify(cell)

/** The cases of a table, and the metrics to compute. @throws Problem when a column or the questions are missing */
export const readTestTable = async (
  { testTable, metrics, columns: wanted }: EvaluationSettings,
  select: (sql: string) => Promise<SqlAnswer>,
): Promise<{ cases: TestCase[]; metrics: MetricName[] }> => {
  const name = partsOfName(testTable).map(backQuoteName).join('.')
  const answer = await select(`SELECT * FROM ${name} LIMIT ${limits.evaluationCasesMax + 1}`)
  if (answer.type !== 'table') throw new TypeError('a SELECT answers a table')
  // The rows are always read to their end: a query keeps its place until its rows are read.
  const rows = await allRows(answer.rows)
  const placeOf = (column: string, isNeeded: boolean): number => {
    const place = answer.columns.findIndex((one) => foldName(one.name) === foldName(column))
    if (place < 0 && isNeeded)
      throw wrong(`${testTable} has no column ${column}`, `It has ${answer.columns.map((one) => one.name).join(', ')}.`)
    return place
  }
  const question = placeOf(wanted.question, true)
  const text = placeOf(wanted.answer ?? 'answer', wanted.answer !== undefined || metrics?.includes('exact') === true)
  const sql = placeOf(wanted.sql ?? 'sql', wanted.sql !== undefined || metrics?.includes('result_set') === true)
  if (rows.length === 0) throw wrong(`${testTable} has no questions`)
  if (rows.length > limits.evaluationCasesMax)
    throw new Problem(
      'query_limit',
      'Too many questions',
      `${testTable} has more than ${limits.evaluationCasesMax} rows (evaluationCasesMax)`,
      {
        hint: 'Make a view of some of them.',
      },
    )
  const usual = [...(text >= 0 ? (['exact'] as const) : []), ...(sql >= 0 ? (['result_set'] as const) : [])]
  const taken: MetricName[] = metrics ? [...metrics] : usual
  if (taken.length === 0) throw wrong(`${testTable} has neither a column answer nor a column sql`, "Name them, or write metrics = 'judge'.")
  const cases = rows.map((row) => ({ question: wordsIn(row[question]) ?? '', answer: wordsIn(row[text]), sql: wordsIn(row[sql]) }))
  return { cases, metrics: taken }
}

/** The form in which texts are compared: without case, repeated spaces, and a full stop or an exclamation mark at the end. */
const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim().replace(/[.!]$/, '')

/** Whether two texts say the same, word by word. */
export const isSameText = (one: string, other: string): boolean => plain(one) === plain(other)
