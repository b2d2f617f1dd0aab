import type { Logger } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import type { Delivery, messageFailures } from '../../events/conversation.js'
import type { StreamId } from '../../events/common.js'
import type { Envelope } from '../../events/stored/envelope.js'
import type { Answered, AskAgent, Turn } from '../agents/contract/answering.js'
import { isProblem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { retryWhileBusy } from '../basics/retry-while-busy.js'
import type { LedgerCommand } from '../commands/dispatch.js'
import type { Ledger } from '../commands/ledger.js'
import { causedBy } from '../log/contract/origins.js'
import type { Found, Origin, Outcome } from '../log/contract/log.js'
import type { SealedPayload } from '../vault/vault.js'
import { channelOf } from './channels/channel-of.js'
import type { Attempt, Fetch } from './channels/channel.js'
import { bytesOf, readMessage, type MessagePayload } from './payloads.js'
import { givenAnswer, transcriptOf } from './transcript.js'
import type { MessageEnd, Watchers } from './watchers.js'

export type AnsweringOptions = {
  ledger: Ledger
  ask: AskAgent
  fetch: Fetch
  watchers: Watchers
  logger: Logger
  /** Aborts when the service stops: an agent that is asked is given up, and the message waits for the next start. */
  stopping: AbortSignal
  /** Aborts when a stop has waited long enough for calls under way. */
  patience: AbortSignal
}

/** What is to be done with a conversation next: nothing, its next message, wait until the chatbot runs, or try again later. */
export type Next = 'done' | 'more' | 'stopped' | { afterMs: number }

/** One message on its way to an answer. */
type Work = {
  conversation: Found<'conversation'>
  chatbot: Found<'chatbot'>
  message: string
  origin: Origin
  received: Envelope
  said: MessagePayload
  turns: Turn[]
}

/** An answer that can be delivered. */
type Given = Pick<Answered, 'answer' | 'position' | 'content' | 'queries'>

/** Refusals of an agent that pass: too many answers, a start of the SQL process, a full disk. */
const passing: ReadonlySet<string> = new Set(['busy', 'analytics_unavailable', 'storage_failed'])

const defaultTurns = 10

/** How many earlier turns a chatbot's agent is told: its param `history`. */
const turnsOf = ({ state: { params } }: Found<'chatbot'>): number => {
  const { history } = params
  return typeof history === 'number' && history >= 0 ? Math.min(Math.floor(history), limits.conversationHistoryMaxTurns) : defaultTurns
}

/** When a message came: its id, a UUIDv7, begins with the time in milliseconds. */
const cameAt = (message: string): number => Number.parseInt(message.replaceAll('-', '').slice(0, 12), 16)

/** An error as a valid text for the log. Of the agent only titles are taken: the rest may repeat what was said. */
const fit = (error: string): string => error.slice(0, limits.errorMaxChars).replaceAll('\0', '').toWellFormed()

/**
 * Answers the messages of conversations, one at a time: asks the agent, delivers, and records each step before the next. After a crash
 * the log tells how far a message was: an answer that the agent gave is not asked for again, and one that was on its way to a chat
 * service is not sent again.
 */
export class Answering {
  /** How often each waiting message was tried and put off, in this run of the service. */
  readonly #tries = new Map<string, number>()

  constructor(private readonly options: AnsweringOptions) {}

  /** Answers the message that waits first in a conversation. */
  async next(stream: StreamId): Promise<Next> {
    const { log } = this.options.ledger
    const conversation = await this.#insist(() => log.resources.byStream('conversation', stream))
    const first = conversation?.state.waiting[0]
    if (!conversation || !first) return 'done'
    const chatbot = await this.#insist(() => log.resources.byStream('chatbot', conversation.state.chatbot))
    const { message } = first
    const received = await transcriptOf(log, conversation, message, chatbot ? turnsOf(chatbot) : 0)
    if (!received) throw new Error(`the stream ${stream} has no message ${message}`)
    const origin = await this.#originOf(chatbot, received.received)
    const { delivering } = conversation.state
    if (delivering) {
      const error = 'the service ended while the answer was on its way; nobody knows whether it arrived'
      return this.#undelivered({ conversation, origin }, delivering, 'unknown', error)
    }
    const fail = (reason: (typeof messageFailures)[number], error: string) => this.#fail({ conversation, message, origin }, reason, error)
    if (!chatbot) return fail('chatbot', 'the chatbot was deleted')
    if (Date.now() - cameAt(message) > limits.messageMaxAgeMs) return fail('expired', 'the message waited too long (messageMaxAgeMs)')
    if (!chatbot.state.is_running) return 'stopped'
    const said = readMessage(await this.#insist(() => log.payload(first.payload)))
    if (!said) return fail('erased', 'the message was erased before it was answered')
    const work: Work = { conversation, chatbot, message, origin, said, ...received }
    const given = await this.#answer(work)
    return isGiven(given) ? this.#deliver(work, given) : given
  }

  async #originOf(chatbot: Found<'chatbot'> | undefined, received: Envelope): Promise<Origin> {
    const { log } = this.options.ledger
    const project = chatbot && (await this.#insist(() => log.resources.byStream('project', chatbot.state.project)))
    const actor = chatbot && project ? `chatbot:${project.state.name}.${chatbot.state.name}` : 'chatbot'
    return causedBy({ actor, source: 'system' }, received)
  }

  /** The answer to a message, asked for unless it was given before. */
  async #answer(work: Work): Promise<Given | Next> {
    const { log } = this.options.ledger
    const { chatbot, conversation, received } = work
    const { agent: stream, project: projectStream } = chatbot.state
    const project = await this.#insist(() => log.resources.byStream('project', projectStream))
    const agent = stream === null ? undefined : await this.#insist(() => log.resources.byStream('agent', stream))
    if (!agent || !project) return this.#fail(work, 'chatbot', 'the chatbot has no agent that could answer')
    const before = await givenAnswer(log, agent.stream, conversation.stream, received)
    return before ?? this.#ask(work, project, agent)
  }

  async #ask(work: Work, project: Found<'project'>, agent: Found<'agent'>): Promise<Given | Next> {
    const { ask, stopping, watchers, logger } = this.options
    const { message, origin, said, turns, conversation } = work
    const late = AbortSignal.timeout(limits.messageAnswerTimeoutMs)
    const signal = AbortSignal.any([stopping, late])
    try {
      const asking = ask({
        ...{ project, agent, origin, signal },
        turns: [...turns, { role: 'user', content: said.text }],
        purpose: 'conversation',
        client: origin.actor,
        conversation: conversation.stream,
      })
      let step = await asking.next()
      for (; !step.done; step = await asking.next()) watchers.tell(message, { frame: step.value })
      return await this.#judge(work, step.value, late)
    } catch (error) {
      if (stopping.aborted) return 'done'
      if (isProblem(error) && passing.has(error.code)) return this.#putOff(work, error.title, 'agent')
      if (!isProblem(error)) logger.error({ err: error, message }, 'an agent could not be asked')
      return this.#fail(work, 'agent', isProblem(error) ? error.title : 'a fault of this service; its log says more')
    }
  }

  async #judge(work: Work, { outcome, answer, position, content, queries, problem }: Answered, late: AbortSignal): Promise<Given | Next> {
    if (outcome === 'aborted' && this.options.stopping.aborted) return 'done'
    if (late.aborted) return this.#fail(work, 'agent', 'the agent took too long (messageAnswerTimeoutMs)')
    if (outcome === 'failed' || outcome === 'aborted') return this.#fail(work, 'agent', problem?.title ?? 'the agent failed')
    if (content.trim() === '') return this.#fail(work, 'agent', 'the agent answered nothing')
    return { answer, position, content, queries }
  }

  /** Tries a message again later; after too many tries it has failed. */
  async #putOff(work: Work, error: string, reason: 'agent', afterMs?: number): Promise<Next> {
    return this.#later(work.message, afterMs) ?? this.#fail(work, reason, error)
  }

  /** When a message may be tried again; undefined when it was tried often enough. */
  #later(message: string, afterMs?: number): Next | undefined {
    const tries = (this.#tries.get(message) ?? 0) + 1
    if (tries >= limits.deliveryMaxAttempts) return undefined
    this.#tries.set(message, tries)
    return { afterMs: Math.min(afterMs ?? 1_000 * 4 ** (tries - 1), limits.deliveryRetryMaxWaitMs) }
  }

  /** Delivers an answer. What is sent to a chat service is announced in the log before, so that it is never sent twice. */
  async #deliver(work: Work, given: Given): Promise<Next> {
    const { message, conversation } = work
    const payload = this.options.ledger.vault.seal(bytesOf({ text: given.content }))
    const delivery: Delivery = { message, reply: uuidv7(), answer: given.answer, answered_at: given.position, payload: payload.hash }
    if (conversation.state.channel === 'api') return this.#sent(work, delivery, given, [payload])
    const outlet = await this.#outlet(work)
    if ('error' in outlet) return this.#undelivered(work, delivery, 'refused', outlet.error, [payload])
    if (!outlet.post) return this.#sent(work, delivery, given, [payload])
    const begun = await this.#execute({ type: 'BeginDelivery', data: { conversation: conversation.stream, ...delivery } }, work.origin, [
      payload,
    ])
    if (begun.positions.length === 0) return 'more'
    const attempt = await outlet.post({ reply: delivery.reply, text: given.content, address: work.said.address }, this.options.patience)
    return this.#settle(work, delivery, given, attempt)
  }

  async #outlet({ conversation, chatbot }: Work) {
    try {
      const channel = await channelOf(this.options.ledger.log, chatbot, this.options.fetch)
      if (channel.name === conversation.state.channel) return { post: channel.post }
      return { error: `the connection of the chatbot is one of ${channel.name} by now` }
    } catch (error) {
      if (!isProblem(error) || error.code === 'storage_failed') throw error
      return { error: error.detail }
    }
  }

  async #settle(work: Work, delivery: Delivery, given: Given, attempt: Attempt): Promise<Next> {
    switch (attempt.end) {
      case 'sent':
        return this.#sent(work, delivery, given)
      case 'later': {
        const later = this.#later(work.message, attempt.afterMs)
        if (!later) return this.#undelivered(work, delivery, 'unreachable', attempt.error)
        const { message, reply } = delivery
        const data = { conversation: work.conversation.stream, message, reply, error: fit(attempt.error) }
        await this.#execute({ type: 'DeferDelivery', data }, work.origin)
        return later
      }
      case 'refused':
      case 'unknown':
        return this.#undelivered(work, delivery, attempt.end, attempt.error)
    }
  }

  async #sent({ conversation, origin }: Work, delivery: Delivery, given: Given, payloads: SealedPayload[] = []): Promise<Next> {
    await this.#execute({ type: 'SendMessage', data: { conversation: conversation.stream, ...delivery } }, origin, payloads)
    const { answer, content: text, queries } = given
    return this.#ended(delivery.message, { status: 'answered', answer, text, queries })
  }

  async #undelivered(
    { conversation, origin }: Pick<Work, 'conversation' | 'origin'>,
    delivery: Delivery,
    reason: 'refused' | 'unreachable' | 'unknown',
    error: string,
    payloads: SealedPayload[] = [],
  ): Promise<Next> {
    const data = { conversation: conversation.stream, ...delivery, reason, error: fit(error) }
    await this.#execute({ type: 'FailDelivery', data }, origin, payloads)
    this.options.logger.warn({ conversation: conversation.stream, message: delivery.message, reason, error }, 'an answer was not delivered')
    return this.#ended(delivery.message, { status: 'failed', reason, error })
  }

  async #fail(
    { conversation, message, origin }: Pick<Work, 'conversation' | 'message' | 'origin'>,
    reason: (typeof messageFailures)[number],
    error: string,
  ): Promise<Next> {
    await this.#execute({ type: 'FailMessage', data: { conversation: conversation.stream, message, reason, error: fit(error) } }, origin)
    this.options.logger.warn({ conversation: conversation.stream, message, reason }, 'a message was not answered')
    return this.#ended(message, { status: 'failed', reason, error })
  }

  #ended(message: string, end: MessageEnd): Next {
    this.#tries.delete(message)
    this.options.watchers.tell(message, { end })
    return 'more'
  }

  #execute(command: LedgerCommand, origin: Origin, payloads: readonly SealedPayload[] = []): Promise<Outcome> {
    return this.#insist(() => this.options.ledger.execute(command, origin, { payloads }))
  }

  #insist<T>(ask: () => Promise<T>): Promise<T> {
    return retryWhileBusy(ask, () => this.options.stopping.aborted)
  }
}

const isGiven = (given: Given | Next): given is Given => typeof given === 'object' && 'content' in given
