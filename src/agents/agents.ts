/**
 * Room: agents that answer questions. It imports only events, basics, log/contract, commands, connections/contract, sql/contract, llm,
 * agents/contract, agents/scope, agents/queries, agents/prompt, agents/tools and agents/run.
 */

import { v7 as uuidv7 } from 'uuid'
import { illFormed, isBlank } from '../../events/common.js'
import { Problem, stopping, wrong } from '../basics/errors.js'
import { abortWith, unlessAborted } from '../basics/concurrency/bounded-waits.js'
import { KeyedTurns } from '../basics/concurrency/keyed-turns.js'
import { limits } from '../basics/limits.js'
import type { Logger } from '../basics/logger.js'
import { SharesPerClient } from '../basics/concurrency/shares-per-client.js'
import { ErasedMeanwhile, type Ledger } from '../commands/ledger.js'
import type { LanguageModel, TokenUsage } from '../llm/contract/language-model.js'
import { agentTokenQuotas } from '../llm/tokens/agent-token-quotas.js'
import { addUsage } from '../llm/tokens/token-usage.js'
import { spendingOfAll, type Spending, type SpendingOfProject, type DailyTokenQuotas } from '../llm/tokens/daily-token-quotas.js'
import type { Resource, Resources } from '../log/contract/log.js'
import {
  hasAnswer,
  type AgentAnswer,
  type AnswerFrame,
  type AnswerPlan,
  type AnswerRows,
  type AgentRequest,
  type AskAgent,
} from './contract/answering.js'
import { noteOf } from './contract/note.js'
import { prepare, rowsFor, type PrepareParts, type PreparedAnswer } from './prepare.js'
import { nameInSql, TableDescriptions, type ReadComments } from './prompt/describe.js'
import { requestOf, settingsOf } from './prompt/settings.js'
import { AnswerRun, CancelledError, endingOf, unasked } from './run/answer-run.js'
import { leastOutput, usualOutput } from './run/output-limit.js'
import { Channel } from '../basics/concurrency/channel.js'
import { record, type AnswerRecording } from './run/recording.js'
import { recordedAnswer } from './run/recorded-answer.js'
import { scopeOfNothing } from './scope/agent-scope.js'
import { ToolExecutor } from './run/tool-executor.js'
import { outputsOf } from './tools/replayed-tool.js'

type Parts = PrepareParts & {
  ledger: Ledger
  logger: Logger
  readComments: ReadComments
  /** The tokens of each agent in a day, unless the agent says fewer. */
  tokensPerDay: number
  spendingOfProject: SpendingOfProject
}

/** A question that is answered. `began`: when it came, as `performance.now()` tells it. */
type Admitted = { answer: string; asked: AgentRequest; began: number; signal: AbortSignal; model: LanguageModel; spending: Spending }

type OnRecord = { onRecord: (usage: TokenUsage) => void }

/** Joins texts that wait for the same reader. */
const joinTexts = (last: AnswerFrame, frame: AnswerFrame): AnswerFrame | undefined =>
  last.type === 'text' && frame.type === 'text' ? { type: 'text', text: last.text + frame.text } : undefined

/** @throws Problem wrong_arguments when there is no question, or a message of the user is too long */
const checkTurns = ({ turns }: AgentRequest): void => {
  const question = turns.at(-1)
  if (question?.role !== 'user')
    throw wrong('messages: the last one must be a question', 'Send {"role": "user", "content": "…"} at the end.')
  if (isBlank(question.content)) throw wrong('the question has no text', 'Send the question in words.')
  // An earlier answer may be longer: the prompt leaves out turns that do not fit.
  const long = turns.findIndex(({ role, content }) => role === 'user' && content.length > limits.agentQuestionMaxChars)
  if (long >= 0) throw wrong(`messages[${long}]: has more than ${limits.agentQuestionMaxChars} characters (agentQuestionMaxChars)`)
  turns.forEach(({ content }, i) => {
    const reason = illFormed(content)
    if (reason !== undefined) throw wrong(`messages[${i}]: ${reason}`)
  })
}

const withoutKey = ({ idempotency: _, ...asked }: AgentRequest): AgentRequest => asked

/**
 * Answers questions to agents. It asks the language model of the agent and gives it tools over the data that the agent may read. It records
 * every answer before the client gets it, including failed answers and answers that nobody waits for.
 *
 * @example for await (const frame of agents.ask({ project, agent, turns, purpose: 'completion', origin, signal })) …
 */
export class Agents {
  readonly #descriptions: TableDescriptions
  readonly #quotas: DailyTokenQuotas
  readonly #places = new SharesPerClient({
    ...{ what: 'answers', max: 'agentAnswersMax' },
    shares: [
      { max: 'agentAnswersPerProjectMax', whose: ' of this project' },
      { max: 'agentAnswersPerAgentMax', whose: ' of this agent' },
    ],
  })
  /** Questions with the same idempotency key come one after the other: the later ones get the answer of the first. */
  readonly #keyed = new KeyedTurns()
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(private readonly parts: Parts) {
    this.#descriptions = new TableDescriptions(parts.readComments, parts.connectedColumns)
    this.#quotas = agentTokenQuotas(parts.log)
  }

  /** How many answers are under way. */
  get running(): number {
    return this.#running.size
  }

  /** Answers a question; see `AskAgent`. */
  readonly ask: AskAgent = (asked) => this.#ask(asked)

  async *#ask(asked: AgentRequest): AsyncGenerator<AnswerFrame, AgentAnswer, void> {
    checkTurns(asked)
    const { idempotency, origin } = asked
    if (!idempotency) return yield* this.#anew(asked)
    const turn = JSON.stringify([origin.actor, idempotency.key])
    const leave = await new Promise<() => void>((begin) => void this.#keyed.take(turn, () => new Promise<void>((end) => begin(end))))
    try {
      const [position] = (await this.parts.ledger.repeated(origin, { idempotency }))?.positions ?? []
      if (position === undefined) return yield* this.#anew(asked)
      const known = await recordedAnswer(this.parts.log, position)
      // Earlier releases also kept the key of an answer that was given up. The key stays with that answer.
      if (!hasAnswer(known)) return yield* this.#anew(withoutKey(asked))
      yield { type: 'start', answer: known.answer }
      yield { type: 'text', text: known.content }
      return known
    } finally {
      leave()
    }
  }

  async *#anew(asked: AgentRequest): AsyncGenerator<AnswerFrame, AgentAnswer, void> {
    if (this.#stopping.signal.aborted) throw stopping()
    const release = this.#places.take(asked.project.stream, asked.agent.stream)
    const left = new AbortController()
    const frames = new Channel<AnswerFrame>(joinTexts)
    const answered = this.#answer(asked, left, frames).finally(release)
    const running = answered.catch(() => undefined)
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
    try {
      yield* frames
      return await answered
    } finally {
      left.abort(new CancelledError('The client that asked has left'))
      await running
    }
  }

  /** Resources as they were at a position of the log, including the agents of that time. */
  resourcesAt(position: number, client?: string): Resources {
    return this.parts.resourcesAt(position, client)
  }

  /** The messages that a question would send. Only the tables are read for it. @throws Problem */
  async plan(asked: AgentRequest): Promise<AnswerPlan> {
    checkTurns(asked)
    const { scope, settings, model, messages, tools, readAt, shown } = await prepare(this.parts, this.#descriptions, asked, {
      signal: asked.signal,
    })
    return {
      provider: model.provider,
      model: model.model,
      host: model.host,
      read_at: readAt,
      messages,
      tools: tools.map(({ description }) => description),
      tables: scope.tables.map(({ path }) => nameInSql(path)),
      schema: shown.described,
      models: scope.models.map(({ label }) => label),
      knowledge_bases: scope.bases.map(({ name }) => name),
      missing: scope.missing,
      max_output_tokens: settings.maxOutputTokens ?? null,
      max_prompt_tokens: settings.bounds.promptTokens,
      max_answer_tokens: settings.bounds.answerTokens,
      max_history: settings.bounds.history,
      max_steps: settings.bounds.steps,
      max_queries: settings.bounds.queries,
      max_repairs: settings.bounds.repairs,
    }
  }

  /** The rows of a query over the data that an agent may read, as the agent's own query would return them. @throws Problem of the query */
  rowsFor(asked: AgentRequest, query: string): Promise<AnswerRows> {
    return rowsFor(this.parts, asked, query)
  }

  /** Spends tokens of the day of an agent and of its project. Its earlier versions have the limit of the present one. */
  async spending({ stream, state }: Resource<'agent'>): Promise<Spending> {
    const present = await this.parts.log.resources.byStream('agent', stream)
    const { tokensPerDay = Infinity } = settingsOf(present?.state ?? state)
    const most = Math.min(tokensPerDay, this.parts.tokensPerDay)
    return spendingOfAll([this.#quotas.spending(stream, most), this.parts.spendingOfProject(state.project)])
  }

  /** Ends all answers as aborted, and records them. */
  async stop(): Promise<void> {
    this.#stopping.abort(new CancelledError('The service was stopped'))
    await Promise.all(this.#running)
  }

  /** Prepares, converses and records. The time of an answer begins with the question. */
  async #answer(asked: AgentRequest, left: AbortController, frames: Channel<AnswerFrame>): Promise<AgentAnswer> {
    const ends = new AbortController()
    const { signal } = ends
    const gone = () => left.abort(new CancelledError('The client that asked has left'))
    if (asked.signal.aborted) gone()
    asked.signal.addEventListener('abort', gone)
    const { timeoutMs } = settingsOf(asked.agent.state)
    const release = abortWith(ends, [left.signal, this.#stopping.signal])
    const timer = setTimeout(() => ends.abort(tooLate(timeoutMs)), timeoutMs)
    try {
      const admitted = { answer: uuidv7(), asked, began: performance.now(), signal, ...(await this.#admitted(asked)) }
      frames.put({ type: 'start', answer: admitted.answer })
      const { recorded, onRecord, written } = await this.#recorded(admitted, (frame) => frames.put(frame))
      const [position = 0] = written.positions
      const { content, outcome, queries, tools, usage, estimatedTokens, problem } = recorded.finished
      const note = problem ? undefined : noteOf(recorded.finished)
      onRecord(addUsage(usage, { input: null, output: estimatedTokens }))
      if (written.repeated) return await recordedAnswer(this.parts.log, position)
      return {
        ...{ answer: admitted.answer, position, model: recorded.model.model, host: recorded.model.host, content, outcome, queries, usage },
        retrieved: outputsOf(tools),
        ...(note !== undefined && { note }),
        ...(problem && { problem }),
      }
    } finally {
      clearTimeout(timer)
      release()
      asked.signal.removeEventListener('abort', gone)
      frames.end()
    }
  }

  /**
   * Finishes and records an answer. An answer without a record is lost, and its client may have left, so the log of the service says so.
   * After an erasure it must not be recorded.
   */
  async #recorded(admitted: Admitted, emit: (frame: AnswerFrame) => void) {
    const { logger } = this.parts
    const { answer, asked } = admitted
    try {
      const finished = await this.#finished(admitted, emit)
      const { fault } = finished.recorded.finished
      if (fault !== undefined) logger.error({ err: fault, answer, agent: asked.agent.stream }, 'an answer failed because of a fault')
      const written = await record(this.parts, finished.recorded, () => this.#stopping.signal.aborted)
      return { ...finished, written }
    } catch (err) {
      if (!(err instanceof ErasedMeanwhile)) logger.error({ err, answer, agent: asked.agent.stream }, 'an answer was not recorded')
      throw err
    }
  }

  /**
   * The language model of an agent whose day has tokens left, and the spending of its tokens.
   *
   * @throws Problem when the question is refused: then no model is asked, no data are read, and nothing is recorded
   */
  async #admitted({ agent }: AgentRequest): Promise<Pick<Admitted, 'model' | 'spending'>> {
    const model = await this.parts.modelOf(agent.state)
    const spending = await this.spending(agent)
    const request = requestOf(settingsOf(agent.state))
    const { settle } = await spending.reserve(usualOutput(request), leastOutput(request))
    settle(0)
    return { model, spending }
  }

  /** The answer, even if it failed, and the receiver of its token counts once it is recorded. */
  async #finished(admitted: Admitted, emit: (frame: AnswerFrame) => void): Promise<{ recorded: AnswerRecording } & OnRecord> {
    const { answer, asked, began, signal, spending } = admitted
    const prepared = await this.#prepared(admitted)
    if ('recorded' in prepared) return { ...prepared, onRecord: () => undefined }
    const { scope, isGone, settings, model, messages, tools, fence, readAt, searched } = prepared
    const executor = new ToolExecutor(tools, fence)
    const { reserve, recorded: onRecord } = spending
    const request = requestOf(settings)
    const finished = await new AnswerRun({
      ...{ model, messages, request, bounds: settings.bounds, executor, reserve, signal, began, isGone },
      emit,
    }).finish()
    const recorded = { answer, asked, scope, isGone, settings, model, readAt, searched, finished }
    return { recorded: { ...recorded, request: { ...request, tools: executor.descriptions } }, onRecord }
  }

  /** The request to the language model, or the record of an answer that ended before it. */
  async #prepared({ answer, asked, began, signal, model }: Admitted): Promise<PreparedAnswer | { recorded: AnswerRecording }> {
    const { agent } = asked
    // It was looked up already, unless the agent was changed since.
    const modelOf: PrepareParts['modelOf'] = async (state) => (state === agent.state ? model : this.parts.modelOf(state))
    try {
      // Some of the work that it waits for ignores the signal.
      return await unlessAborted(prepare({ ...this.parts, modelOf }, this.#descriptions, asked, { signal, answer }), signal)
    } catch (error) {
      const finished = unasked(endingOf(error, signal), began)
      const readAt = asked.asOf ?? (await this.parts.log.head()).position
      const settings = settingsOf(agent.state)
      const scope = scopeOfNothing(agent)
      const request = { ...requestOf(settings), tools: [] }
      return { recorded: { answer, asked, scope, isGone: false, settings, model, readAt, request, searched: [], finished } }
    }
  }
}

const tooLate = (timeoutMs: number): Problem =>
  new Problem('answer_timeout', 'The answer took too long', `the answer took longer than ${timeoutMs} ms`, {
    hint: 'Give the agent a longer timeout, in seconds: it may be as long as agentAnswerMaxTimeoutMs.',
  })
