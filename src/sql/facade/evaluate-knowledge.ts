import type { JsonObject } from '../../../events/common.js'
import { instant } from '../../../events/stored/envelope.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { partsOfName } from '../../catalogue/names.js'
import { textSetting } from '../../dialect/settings.js'
import { backQuoteName } from '../../dialect/strings.js'
import type { KnowledgeStore } from '../../knowledge/contract/contents.js'
import type { SearchFor } from '../../knowledge/contract/search.js'
import type { Resource } from '../../log/contract/log.js'
import { relevancyOf } from './relevancy-metrics.js'

/** A time in the form of answers: UTC, `2026-11-21 10:00:00.123000`. */
const recordTimeOf = (ms: number): string => instant(ms).slice(0, 26).replace('T', ' ')

type Parts = {
  knowledge: Pick<KnowledgeStore, 'search'>
  /** The rows of a query of this service. */
  read: (sql: string) => AsyncIterable<JsonObject>
  searchFor: SearchFor
  asOf?: number
}

/** A question, and its document if the table names one. */
type Question = { question: string; document: string | undefined }

const known = ['test_table', 'version', 'generate_data', 'evaluate', 'llm', 'save_to', 'hybrid_search_alpha']
const topmost = 10

const notBuilt = (what: string, hint: string): Problem => new Problem('not_built', 'Not available', what, { hint })

const checkOptions = (using: JsonObject): void => {
  const other = Object.keys(using).find((key) => !known.includes(key))
  if (other !== undefined) throw wrong(`USING has no option ${other}`, `Options: ${known.join(', ')}.`)
  if (using['generate_data'] !== undefined && using['generate_data'] !== false)
    throw notBuilt('questions are not made up here', 'Bring a table of questions: its columns are question and doc_id.')
  if (using['evaluate'] !== undefined && using['evaluate'] !== true)
    throw notBuilt('EVALUATE always evaluates', 'Without it there is nothing to do, because no questions are made up: leave evaluate out.')
  if (using['save_to'] !== undefined)
    throw notBuilt('EVALUATE saves nothing', 'Its answer is the result; CREATE TABLE files.name (SELECT …) keeps one.')
  if (using['llm'] !== undefined)
    throw notBuilt(
      'EVALUATE takes no language model of its own',
      'With llm_relevancy the reranking_model of the knowledge base judges, or the default.',
    )
}

const versions = ['doc_id', 'llm_relevancy'] as const
type Version = (typeof versions)[number]

const versionOf = (using: JsonObject): Version => {
  const said = using['version'] ?? 'doc_id'
  const version = versions.find((one) => one === said)
  if (version === undefined) throw wrong(`version: ${JSON.stringify(said)} is not known`, "There are 'doc_id' and 'llm_relevancy'.")
  return version
}

const tableName = (using: JsonObject): string => {
  const name = textSetting(using, 'test_table')
  if (name === undefined)
    throw wrong(
      'test_table is missing',
      'It names a table with the columns question and doc_id (llm_relevancy needs question alone): test_table = files.questions.',
    )
  return partsOfName(name).map(backQuoteName).join('.')
}

const textIn = (row: JsonObject, names: readonly string[], number: number): string => {
  const name = names.find((one) => Object.hasOwn(row, one))
  const value = name === undefined ? undefined : row[name]
  if (value === undefined || value === null || typeof value === 'object' || value === '')
    throw wrong(`test_table, row ${number}: ${names[0] ?? ''} is missing`, 'Its columns are question, and doc_id or id.')
  return String(value)
}

const questionsIn = async (rows: AsyncIterable<JsonObject>, version: Version): Promise<Question[]> => {
  const questions: Question[] = []
  for await (const row of rows) {
    const number = questions.length + 1
    if (number > limits.knowledgeEvaluateMaxQuestions)
      throw new Problem('query_limit', 'Too many questions', `test_table has more than ${limits.knowledgeEvaluateMaxQuestions} questions`, {
        hint: 'Take some of them: CREATE TABLE files.some (SELECT … LIMIT 1000).',
      })
    const document = version === 'doc_id' ? textIn(row, ['doc_id', 'id'], number) : undefined
    questions.push({ question: textIn(row, ['question', 'content'], number), document })
  }
  if (questions.length === 0) throw wrong('test_table has no rows')
  return questions
}

/** The share of questions whose document was among the first n, for each n. */
const recallOf = (places: readonly number[], total: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: topmost }, (_, i) => [String(i), places.filter((place) => place >= 0 && place <= i).length / total] as const),
  )

/** The places at which the documents of questions were found; -1 for a document that was not found. */
const placesOf = (places: readonly number[]): JsonObject => {
  const inTop = places.map((place) => (place < topmost ? place : -1))
  return {
    total: places.length,
    total_found: places.filter((place) => place >= 0).length,
    retrieved_in_top_10: inTop.filter((place) => place >= 0).length,
    cumulative_recall: JSON.stringify(recallOf(inTop, places.length)),
  }
}

/**
 * Asks the questions of a table, and measures the answers of the knowledge base: the rank of the right document for each question, or a
 * language model's scores for the first results. The answer is one row with the columns of MindsDB.
 *
 * @example await evaluateKnowledge(base, { test_table: 'files.questions' }, { knowledge, read, searchFor }) // [{ total: 30, total_found: 29, … }]
 */
export const evaluateKnowledge = async (
  base: Resource<'knowledge_base'>,
  using: JsonObject,
  { knowledge, read, searchFor, asOf }: Parts,
): Promise<JsonObject[]> => {
  checkOptions(using)
  const version = versionOf(using)
  const alpha = using['hybrid_search_alpha']
  if (alpha !== undefined && typeof alpha !== 'number') throw wrong('hybrid_search_alpha must be a number')
  const questions = await questionsIn(read(`SELECT * FROM ${tableName(using)}`), version)
  const places: number[] = []
  const scores: number[][] = []
  let ms = 0
  for (const { question, document } of questions) {
    const began = performance.now()
    const query = {
      content: question,
      ...(document === undefined ? { limit: topmost, reranking: 'scores' as const } : { limit: limits.knowledgeSearchMaxChunks }),
      ...(alpha !== undefined && { alpha }),
      ...(asOf !== undefined && { asOf }),
    }
    const { chunks } = await knowledge.search(base, query, searchFor)
    ms += performance.now() - began
    if (document === undefined) scores.push(chunks.map(({ relevance }) => relevance))
    else places.push([...new Set(chunks.map(({ id }) => id))].indexOf(document))
  }
  return [
    {
      ...(version === 'doc_id' ? placesOf(places) : relevancyOf(scores, topmost)),
      avg_query_time: ms / questions.length / 1_000,
      id: base.id,
      name: base.state.name,
      created_at: recordTimeOf(Date.now()),
    },
  ]
}
