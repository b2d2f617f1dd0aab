import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'
import type { KnowledgeQuestion, KnowledgeAnswer } from '../../knowledge/contract/contents.js'
import type { SearchFor } from '../../knowledge/contract/search.js'
import type { PredictionRecorder } from '../../models/serving/prediction-recorder.js'
import { cutSecretsInTurns } from '../../dialect/mask-secrets.js'
import { rowsFrom, type SqlAnswer } from '../contract/answer.js'
import type { RunningStatement } from '../contract/request.js'
import type {
  AgentQuestions,
  AgentReply,
  SelectService,
  PredictedRows,
  ScoreCount,
  KnowledgeExchange,
  SelectPart,
  SelectAnswer,
  SelectRequest,
} from '../contract/select.js'

/** Asks an agent, and resolves with an answer to each question. @throws Problem when the agent could answer no question */
export type AskQuestions = (asked: AgentQuestions, statement: RunningStatement) => Promise<AgentReply[]>

/** The parts that answer a SELECT and record its predictions. */
export type AnswerParts = {
  log: Pick<Log, 'now'> & { head: () => Promise<{ position: number }> }
  sqlProcess: SelectService
  recorder: Pick<PredictionRecorder, 'records' | 'served' | 'scored'>
  defaultProject: string
  /** Asks agents. Without it, a statement that needs an agent is refused. */
  askQuestions?: AskQuestions | undefined
  /** Asks knowledge bases. Without it, the process that answers SQL asks them while the query runs. */
  askKnowledge?: ((question: KnowledgeQuestion, searchFor: SearchFor) => Promise<KnowledgeAnswer>) | undefined
}

/** Records the predictions of models in a SELECT that is part of a statement, with the position at which the SELECT was read. */
class Receipts {
  constructor(
    private readonly recorder: AnswerParts['recorder'],
    private readonly statement: RunningStatement,
    private readonly readAt: number,
  ) {}

  /** Records predictions of given rows. They may be answered after that. */
  async served(served: readonly PredictedRows[]): Promise<number[]> {
    const { recorder, readAt } = this
    const { origin } = this.statement
    const recorded = served.map(async ({ model, version, rows }) =>
      (await recorder.records(model)) ? [await recorder.served({ model, version, rows, origin, readAt })] : [],
    )
    return (await Promise.all(recorded)).flat()
  }

  /** Records the number of rows that models scored inside a query. */
  async scored(scored: readonly ScoreCount[]): Promise<number[]> {
    if (scored.length === 0) return []
    const { recorder, readAt } = this
    const { origin, query } = this.statement
    const statement = await cutSecretsInTurns(query)
    return Promise.all(scored.map((count) => recorder.scored({ ...count, origin, statement, readAt })))
  }
}

/** Passes the rows on. After the last row it is known which models scored them, and this is recorded. */
const withReceipts = ({ rows }: SelectAnswer, receipts: Receipts, positions: number[]): AsyncIterable<Buffer> => {
  const next = async () => {
    const chunk = await rows.next()
    if (chunk.done === true) positions.push(...(await receipts.scored(chunk.value?.scored ?? [])))
    return chunk
  }
  return rowsFrom(next, rows)
}

/** The SELECT in the form that the process gets. */
const requestOf = (select: SelectPart, running: RunningStatement, { head, now }: { head: number; now: number }, project: string) => {
  const { context, origin, params, format, position, last, readsOnly, purpose } = running
  const request: SelectRequest = {
    ...select,
    db: context.db,
    defaultProject: project,
    upTo: head,
    now,
    user: origin.actor,
    origin,
    // An answer other than the query's rows has only a few rows of this service.
    format: select.wanted ? 'json' : (format ?? 'json'),
    ...(running.statement && { statement: running.statement }),
    ...(params && { params }),
    ...(last && { last: last.known }),
    ...(last?.wantsBase && { wantsBase: true }),
    // A question about the past only reads, even if nothing was written since.
    ...((readsOnly === true || position !== undefined || last?.wantsBase) && { readsOnly: true }),
    ...(purpose && { purpose }),
    ...(position !== undefined && position !== head && { asOf: position }),
  }
  return request
}

const askedTooOften = (): Problem =>
  new Problem(
    'query_limit',
    'Too many rounds',
    `The answers of agents led to other questions ${limits.agentRoundsMax} times (agentRoundsMax)`,
    {
      hint: 'Ask the same questions each time: without random(), and with an ORDER BY for each LIMIT.',
    },
  )

const tooMuchSaid = (): Problem =>
  new Problem(
    'query_limit',
    'Answers too large',
    `The answers of agents have more than ${limits.agentRepliesMaxBytes} bytes in all (agentRepliesMaxBytes)`,
    { hint: 'Ask fewer questions at a time. The answers so far are recorded: SELECT * FROM log.answers.' },
  )

const bytesOf = ({ question, answer, context }: AgentReply): number =>
  Buffer.byteLength(question) + Buffer.byteLength(answer ?? '') + Buffer.byteLength(context ?? '')

/** Adds replies to those that the next request has. @throws Problem when they are too large for one request */
const gather = (answers: AgentReply[], replies: readonly AgentReply[]): void => {
  answers.push(...replies)
  if (answers.reduce((sum, reply) => sum + bytesOf(reply), 0) > limits.agentRepliesMaxBytes) throw tooMuchSaid()
}

const searchedTooOften = (): Problem =>
  new Problem(
    'query_limit',
    'Too many searches',
    `The query reads more than ${limits.knowledgeRoundsMax} knowledge bases, or the same ones in other ways (knowledgeRoundsMax)`,
    { hint: 'Read fewer of them at a time, or keep what is found: CREATE TABLE files.found (SELECT … FROM …).' },
  )

/** Sends a SELECT, repeatedly if it needs further answers of agents or knowledge bases. No part of it runs while they are asked. */
const sendSelect = async (
  request: SelectRequest,
  statement: RunningStatement,
  { sqlProcess, askQuestions, askKnowledge }: AnswerParts,
): Promise<SelectAnswer> => {
  const { signal, client, origin } = statement
  const { purpose = 'query', answer: of } = request
  const answers: AgentReply[] = []
  const knowledge: KnowledgeExchange[] = []
  for (let [rounds, asked] = [0, 0]; ;) {
    const given = { ...request, ...(askQuestions && { answers }), ...(askKnowledge && { knowledge }) }
    const answer = await sqlProcess.query(given, { signal, client })
    if (!answer.questions && !answer.searches) return answer
    await answer.rows.return(undefined)
    if (answer.searches && askKnowledge) {
      if (asked++ === limits.knowledgeRoundsMax) throw searchedTooOften()
      for (const question of answer.searches) {
        knowledge.push({ question, answer: await askKnowledge(question, { origin, purpose, answer: of, signal }) })
        signal?.throwIfAborted()
      }
    } else if (answer.questions && askQuestions) {
      if (rounds++ === limits.agentRoundsMax) throw askedTooOften()
      gather(answers, await askQuestions(answer.questions, statement))
    } else throw new TypeError('the query asks a question that no part of the service answers')
  }
}

/**
 * Answers a SELECT that is a statement or was made from one, at the head of the log. Resolves with its first rows, so most failures still
 * get a separate answer.
 *
 * @example await answerSelect({ sql: 'SELECT 1' }, statement, { log, sqlProcess, recorder, defaultProject: 'mindsdb' })
 */
export const answerSelect = async (select: SelectPart, statement: RunningStatement, parts: AnswerParts): Promise<SqlAnswer> => {
  const { position: head } = await parts.log.head()
  const request = requestOf(select, statement, { head, now: parts.log.now() }, parts.defaultProject)
  const { context, position = head } = statement
  const receipts = new Receipts(parts.recorder, statement, position)
  const answer = await sendSelect(request, statement, parts)
  try {
    const positions = await receipts.served(answer.served ?? [])
    if (answer.scored) positions.push(...(await receipts.scored(answer.scored)))
    if (answer.last) statement.last?.note(answer.last)
    const rows = answer.scored ? answer.rows : withReceipts(answer, receipts, positions)
    const { scores, erasable, changes } = answer
    const more = { ...(scores && { scores }), ...(erasable && { erasable }), ...(changes && { changes }) }
    return { type: 'table', columns: answer.columns, rows, format: request.format ?? 'json', context, positions, ...more }
  } catch (error) {
    await answer.rows.return(undefined)
    throw error
  }
}
