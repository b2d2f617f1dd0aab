import type { StreamId } from '../../events/common.js'
import type { Envelope } from '../../events/stored/envelope.js'
import type { AgentAnswer, AskAgent } from '../agents/contract/answering.js'
import { abortWith } from '../basics/concurrency/bounded-waits.js'
import { growingWait, type Patience } from '../basics/concurrency/growing-wait.js'
import { isBusy } from '../basics/concurrency/retry.js'
import { isProblem, type Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { Logger } from '../basics/logger.js'
import type { TrustedClock } from '../basics/trusted-clock.js'
import type { Ledger } from '../commands/ledger.js'
import type { Lease } from '../log/contract/leases.js'
import type { Log, Resource, Origin } from '../log/contract/log.js'
import { causedBy, systemOrigin } from '../log/contract/origins.js'
import { isPassing } from '../sql/contract/retry-while-unavailable.js'
import type { Fetch } from './channels/channel.js'
import {
  Deliverer,
  ErasedMeanwhileError,
  type AddressedMessage,
  type DeliverableAnswer,
  type NextStep,
  type PendingMessage,
} from './deliverer.js'
import { readMessage } from './payloads.js'
import { givenAnswer, transcriptOf, type Transcript } from './transcript.js'
import { messageFrameOf, type Watchers } from './watchers.js'

export type AnswererOptions = {
  ledger: Ledger
  log: Log
  ask: AskAgent
  fetch: Fetch
  watchers: Watchers
  clock: Pick<TrustedClock, 'now'>
  logger: Logger
  /** Aborts when the service stops: the agent's answer is given up, and the message waits for the next start. */
  stopping: AbortSignal
  /** Aborts when a stop has waited long enough for running calls. */
  patience: AbortSignal
  /** How often the answer to a message is tried after faults. */
  tries?: Partial<Patience> | undefined
}

/** A message that is being answered. */
type AnswerTask = AddressedMessage & Transcript

/**
 * Temporary refusals of an agent: too many answers, a start of the SQL process, a full disk. If the log recorded the answer without a
 * confirmation, the answer is found before the agent is asked again.
 */
const mayPass = (problem: Problem): boolean => isPassing(problem) || isBusy(problem)

const defaultTurns = 10

/** The patience with a message after faults of this service. */
const usualPatience: Patience = {
  triesMax: limits.messageTriesMax,
  firstWaitMs: 1_000,
  factor: 2,
  maxWaitMs: limits.deliveryRetryMaxWaitMs,
}

const aFault = 'a fault of this service; its log says more'

/** The number of earlier turns that a chatbot's agent gets: the param `history`. */
const turnsOf = ({ state: { params } }: Resource<'chatbot'>): number => {
  const { history } = params
  return typeof history === 'number' && history >= 0 ? Math.min(Math.floor(history), limits.conversationHistoryMaxTurns) : defaultTurns
}

/** The arrival time of a message: its id, a UUIDv7, begins with the time in milliseconds. */
export const cameAt = (message: string): number => Number.parseInt(message.replaceAll('-', '').slice(0, 12), 16)

/**
 * Answers the messages of conversations, one at a time: asks the agent, delivers, and records each step before the next. After a crash the
 * log shows the state of a message: the agent is not asked again for an answer that it gave.
 */
export class Answerer {
  readonly #delivering: Deliverer
  readonly #patience: Patience
  /** How often the next step of a conversation failed here because of a fault, and for which message. */
  readonly #faults = new Map<StreamId, { message: string; tries: number }>()

  constructor(private readonly options: AnswererOptions) {
    this.#delivering = new Deliverer(options)
    this.#patience = { ...usualPatience, ...options.tries }
  }

  /** Answers the first waiting message of a conversation, under the conversation's lease. After an erasure it is read again. */
  async next(stream: StreamId, lease: Lease): Promise<NextStep> {
    try {
      const step = await this.#next(stream, lease)
      this.#faults.delete(stream)
      return step
    } catch (error) {
      if (error instanceof ErasedMeanwhileError) return 'more'
      if (this.options.stopping.aborted) throw error
      return this.#faulted(stream, lease, error)
    }
  }

  /** Forgets the tries of a message that another node ended. */
  endedElsewhere(stream: StreamId, message: string): void {
    if (this.#faults.get(stream)?.message === message) this.#faults.delete(stream)
    this.#delivering.forget(message)
  }

  /**
   * The next step after a fault of this service: another try after a growing wait. After enough tries the message ends without an answer,
   * so that the later ones of its conversation get theirs.
   *
   * @throws the error if the log does not tell the message
   */
  async #faulted(stream: StreamId, lease: Lease, error: unknown): Promise<NextStep> {
    if (!lease.isHeld) return 'more'
    const { log, logger } = this.options
    const conversation = await log.resources.byStream('conversation', stream).catch(() => undefined)
    const message = conversation?.state.waiting[0]?.message
    if (!conversation || message === undefined) throw error
    // Another node may have ended the message that failed here before.
    const before = this.#faults.get(stream)
    // A busy log is no fault of the message.
    const tries = (before?.message === message ? before.tries : 0) + (isBusy(error) ? 0 : 1)
    const isLast = tries >= this.#patience.triesMax
    const told = { err: error, conversation: stream, message, tries }
    logger.error(told, isLast ? 'a message was not answered, and is given up' : 'a message was not answered; it is tried again')
    if (!isLast) {
      this.#faults.set(stream, { message, tries })
      return { afterMs: growingWait(Math.max(1, tries), this.#patience) }
    }
    this.#faults.delete(stream)
    const origin: Origin = { ...systemOrigin, actor: 'chatbot' }
    const waiting: PendingMessage = { conversation, message, lease, origin, guarded: origin }
    const underWay = conversation.state.delivering ?? conversation.state.notifying
    return underWay ? this.#delivering.brokenOff(waiting, underWay) : this.#giveUp(waiting)
  }

  /** Ends a message without an answer. Its author gets the notice, unless the fault prevents that as well. */
  async #giveUp(waiting: PendingMessage): Promise<NextStep> {
    const { log } = this.options
    const { chatbot: stream, waiting: messages } = waiting.conversation.state
    try {
      const chatbot = await log.resources.byStream('chatbot', stream)
      const said = readMessage(await log.payload(messages[0]?.payload ?? ''))
      if (chatbot && said) return await this.#delivering.tellFailed({ ...waiting, chatbot, said }, 'agent', aFault)
    } catch (err) {
      this.options.logger.warn({ err, message: waiting.message }, 'the author of a message was not told that it has no answer')
    }
    return this.#delivering.fail(waiting, 'agent', aFault)
  }

  async #next(stream: StreamId, lease: Lease): Promise<NextStep> {
    const { ledger, log } = this.options
    const delivering = this.#delivering
    const conversation = await delivering.untilDone(() => log.resources.byStream('conversation', stream))
    const first = conversation?.state.waiting[0]
    if (!conversation || !first) return 'done'
    const chatbot = await delivering.untilDone(() => log.resources.byStream('chatbot', conversation.state.chatbot))
    const { message } = first
    const transcript = await transcriptOf(log, conversation, message, chatbot ? turnsOf(chatbot) : 0)
    if (!transcript) throw new Error(`the stream ${stream} has no message ${message}`)
    const origin = await this.#originOf(chatbot, transcript.received)
    const waiting = { conversation, message, lease, origin, guarded: await delivering.untilDone(() => ledger.guarded(origin)) }
    const { delivering: answer, notifying, deferred } = conversation.state
    const underWay = answer ?? notifying
    if (underWay) return delivering.brokenOff(waiting, underWay)
    if (!chatbot) return delivering.fail(waiting, 'chatbot', 'the chatbot was deleted')
    if (this.options.clock.now() - cameAt(message) > limits.messageMaxAgeMs)
      return delivering.fail(waiting, 'expired', 'the message waited too long (messageMaxAgeMs)')
    if (!chatbot.state.is_running) return 'stopped'
    const said = readMessage(await delivering.untilDone(() => log.payload(first.payload)))
    if (!said) return delivering.fail(waiting, 'erased', 'the message was erased before it was answered')
    const task: AnswerTask = { ...waiting, chatbot, said, ...transcript }
    if (deferred) return delivering.again(task, deferred)
    const given = await this.#answer(task)
    return isGiven(given) ? delivering.deliver(task, given) : given
  }

  async #originOf(chatbot: Resource<'chatbot'> | undefined, received: Envelope): Promise<Origin> {
    const { log } = this.options
    const project = chatbot && (await this.#delivering.untilDone(() => log.resources.byStream('project', chatbot.state.project)))
    const actor = chatbot && project ? `chatbot:${project.state.name}.${chatbot.state.name}` : 'chatbot'
    return causedBy({ actor, source: 'system' }, received)
  }

  /** The answer to a message; asks the agent unless the answer already exists. */
  async #answer(task: AnswerTask): Promise<DeliverableAnswer | NextStep> {
    const { log } = this.options
    const { chatbot, conversation, received } = task
    const { agent: stream, project: projectStream } = chatbot.state
    const project = await this.#delivering.untilDone(() => log.resources.byStream('project', projectStream))
    const agent = stream === null ? undefined : await this.#delivering.untilDone(() => log.resources.byStream('agent', stream))
    if (!agent || !project)
      return this.#delivering.tellFailed(task, 'chatbot', 'the chatbot has no agent that could answer: give it one (agent_name)')
    const before = await givenAnswer(log, agent.stream, conversation.stream, received)
    return before ?? this.#ask(task, project, agent)
  }

  async #ask(task: AnswerTask, project: Resource<'project'>, agent: Resource<'agent'>): Promise<DeliverableAnswer | NextStep> {
    const { ask, stopping, watchers, logger } = this.options
    const { message, guarded, said, conversation, lease } = task
    const turns = await task.turns()
    const late = AbortSignal.timeout(limits.messageAnswerTimeoutMs)
    const ends = new AbortController()
    const release = abortWith(ends, [stopping, late, lease.lost])
    try {
      const asking = ask({
        ...{ project, agent, origin: guarded, signal: ends.signal },
        turns: [...turns, { role: 'user', content: said.text }],
        purpose: 'conversation',
        client: guarded.actor,
        conversation: conversation.stream,
      })
      let step = await asking.next()
      for (; !step.done; step = await asking.next()) watchers.tell(message, { frame: messageFrameOf(step.value) })
      return await this.#judge(task, step.value, late)
    } catch (error) {
      if (stopping.aborted) return 'done'
      if (!lease.isHeld) return 'more'
      if (isProblem(error)) return await this.#refused(task, error)
      logger.error({ err: error, message }, 'an agent could not be asked')
      return await this.#fail(task, aFault)
    } finally {
      release()
    }
  }

  async #judge(
    task: AnswerTask,
    { outcome, answer, position, content, queries, note, problem }: AgentAnswer,
    late: AbortSignal,
  ): Promise<DeliverableAnswer | NextStep> {
    if (outcome === 'aborted' && this.options.stopping.aborted) return 'done'
    if (outcome === 'aborted' && !task.lease.isHeld) return 'more'
    if (late.aborted) return this.#fail(task, 'the agent took too long (messageAnswerTimeoutMs)')
    if (outcome === 'failed' || outcome === 'aborted') return this.#refused(task, problem)
    if (content.trim() === '') return this.#fail(task, 'the agent answered nothing')
    return { answer, position, content, queries, ...(note !== undefined && { note }) }
  }

  /** The agent was not able to answer; temporary failures are tried again. */
  #refused(task: AnswerTask, problem: Problem | undefined): NextStep | Promise<NextStep> {
    const later = problem && mayPass(problem) ? this.#delivering.later('ask', task.message) : undefined
    return later ?? this.#fail(task, problem?.title ?? 'the agent failed')
  }

  /** The agent has no answer. */
  #fail(task: AnswerTask, error: string): Promise<NextStep> {
    return this.#delivering.tellFailed(task, 'agent', error)
  }
}

const isGiven = (given: DeliverableAnswer | NextStep): given is DeliverableAnswer => typeof given === 'object' && 'content' in given
