import { v7 as uuidv7 } from 'uuid'
import type { Delivery, DeliveryFailure, FailedMessage, Notice } from '../../events/conversation.js'
import type { AgentAnswer } from '../agents/contract/answering.js'
import { readableAnswer } from '../agents/run/recorded-answer.js'
import { retryWhileBusy } from '../basics/concurrency/retry.js'
import { isProblem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { Logger } from '../basics/logger.js'
import type { LedgerCommand } from '../commands/dispatch.js'
import type { Ledger } from '../commands/ledger.js'
import type { Lease } from '../log/contract/leases.js'
import type { Log, Resource, Origin, Outcome } from '../log/contract/log.js'
import type { SealedPayload } from '../vault/vault.js'
import { channelOf } from './channels/channel-of.js'
import type { Attempt, Channel, Fetch } from './channels/channel.js'
import { waitAfter } from './channels/post.js'
import { noticeOf } from './notice.js'
import { payloadBytes, messageText, type MessagePayload } from './payloads.js'
import type { MessageEnd, Watchers } from './watchers.js'

export type DelivererOptions = {
  ledger: Ledger
  log: Log
  fetch: Fetch
  watchers: Watchers
  logger: Logger
  /** Aborts when the service stops. */
  stopping: AbortSignal
  /** Aborts when a stop has waited long enough for running calls. */
  patience: AbortSignal
}

/** The next step of a conversation: nothing, its next message, a wait until the chatbot runs, or another try later. */
export type NextStep = 'done' | 'more' | 'stopped' | { afterMs: number }

/**
 * A waiting message, the origin for its end, and the lease that gives the right to end it. Commands with texts have the guarded origin:
 * they are refused after an erasure, which may have removed what the texts were made from.
 */
export type PendingMessage = { conversation: Resource<'conversation'>; message: string; origin: Origin; guarded: Origin; lease: Lease }

/** Data was erased after the texts of a message were read. */
export class ErasedMeanwhileError extends Error {}

/** The same with its chatbot, its text and its place. */
export type AddressedMessage = PendingMessage & { chatbot: Resource<'chatbot'>; said: MessagePayload }

/** An answer that can be delivered. */
export type DeliverableAnswer = Pick<AgentAnswer, 'answer' | 'position' | 'content' | 'queries' | 'note'>

/** The channel for a text; without `post`, clients read it here or in the reply to the webhook. */
type Outlet = { post?: Channel['post'] } | { error: string }

/** The announcement that is recorded before a text goes to a chat service. */
type Begins = Extract<LedgerCommand, { type: 'BeginDelivery' | 'BeginNotice' }>

/** What is tried again: to ask the agent, or to deliver its answer or the notice. Each has its own number of tries. */
type Stage = 'ask' | 'deliver'

/** An error as a valid text for the log. It only uses the title of an agent's error: the rest may repeat words of the conversation. */
const fit = (error: string): string => error.slice(0, limits.errorMaxChars).replaceAll('\0', '').toWellFormed()

/** If another node recorded the end, that end counts. It is reported when its event arrives. */
const endedElsewhere: NextStep = 'more'

const isNotice = (sent: Delivery | Notice): sent is Notice => 'notice' in sent

const brokenOff = 'the service ended while it was on its way; nobody knows whether it arrived'

/**
 * Ends messages: delivers answers, or the notice that there is none. The log announces each text before it goes to a chat service, so that
 * Slack and Telegram never get it twice. A program of the user gets it at least once, because it can recognize a delivery by its id.
 */
export class Deliverer {
  /** The number of tries of each waiting message that failed, in this run of the service. */
  readonly #tries: Readonly<Record<Stage, Map<string, number>>> = { ask: new Map(), deliver: new Map() }

  constructor(private readonly options: DelivererOptions) {}

  /** Ends deliveries that were under way when the service was killed. */
  async brokenOff(waiting: PendingMessage, sent: Delivery | Notice): Promise<NextStep> {
    const { message, conversation } = waiting
    if (!knowsReplies(conversation)) return this.#unsent(waiting, sent, 'unknown', brokenOff)
    await this.#defer(waiting, sent, brokenOff)
    return this.later('deliver', message, 0) ?? this.#unsent(waiting, sent, 'unknown', brokenOff)
  }

  /** Sends delayed deliveries again. */
  async again(work: AddressedMessage, sent: Delivery | Notice): Promise<NextStep> {
    if (isNotice(sent)) return this.#tell(work, sent)
    const content = messageText(await this.untilDone(() => this.options.log.payload(sent.payload)))
    if (content === undefined) return this.fail(work, 'erased', 'the answer was erased before it was delivered')
    const given = await this.untilDone(() => readableAnswer(this.options.log, sent.answered_at))
    const answer = { answer: sent.answer, position: sent.answered_at, content, queries: given?.queries ?? [] }
    return this.#deliver(work, sent, { ...answer, ...(given?.note !== undefined && { note: given.note }) }, [])
  }

  /** Delivers an answer. */
  deliver(work: AddressedMessage, given: DeliverableAnswer): Promise<NextStep> {
    const payload = this.options.ledger.vault.seal(payloadBytes({ text: given.content }))
    const delivery = { message: work.message, reply: uuidv7(), answer: given.answer, answered_at: given.position, payload: payload.hash }
    return this.#deliver(work, delivery, given, [payload])
  }

  /** Ends a message without an answer, and sends its author the notice. The notice does not give the reason. */
  tellFailed(work: AddressedMessage, reason: FailedMessage['reason'], error: string): Promise<NextStep> {
    const notice = noticeOf(work.chatbot)
    if (notice === undefined) return this.fail(work, reason, error)
    return this.#tell(work, { message: work.message, reason, error: fit(error), reply: uuidv7(), notice })
  }

  /** Ends a message without an answer. */
  async fail(waiting: PendingMessage, reason: FailedMessage['reason'], error: string, notice: string | null = null): Promise<NextStep> {
    const { conversation, message } = waiting
    const data = { conversation: conversation.stream, message, reason, error: fit(error), notice }
    const { positions } = await this.#execute({ type: 'FailMessage', data }, waiting)
    if (positions.length === 0) return endedElsewhere
    this.options.logger.warn({ conversation: conversation.stream, message, reason }, 'a message was not answered')
    return this.#ended(message, { status: 'failed', reason, error, notice })
  }

  /**
   * The time of the next try of a stage of a message. The wait grows each time, unless the chat service gives it. Undefined if there were
   * enough tries.
   */
  later(stage: Stage, message: string, afterMs?: number): NextStep | undefined {
    const failed = this.#tries[stage]
    const tries = (failed.get(message) ?? 0) + 1
    if (tries >= limits.deliveryMaxAttempts) return undefined
    failed.set(message, tries)
    return { afterMs: waitAfter(tries, afterMs) }
  }

  /** Forgets the tries of a message that has ended. */
  forget(message: string): void {
    for (const failed of Object.values(this.#tries)) failed.delete(message)
  }

  /** Repeats a read of the log while the log is busy. */
  untilDone<T>(ask: () => Promise<T>): Promise<T> {
    return retryWhileBusy(ask, () => this.options.stopping.aborted)
  }

  async #deliver(work: AddressedMessage, delivery: Delivery, given: DeliverableAnswer, payloads: SealedPayload[]): Promise<NextStep> {
    const { conversation, said } = work
    const outlet = await this.#outlet(work)
    if ('error' in outlet) return this.#unsent(work, delivery, 'refused', outlet.error, payloads)
    if (!outlet.post) return this.#sent(work, delivery, given, payloads)
    if (!work.lease.isHeld) return endedElsewhere
    const begins = { type: 'BeginDelivery' as const, data: { conversation: conversation.stream, ...delivery } }
    if (!(await this.#begin(work, begins, payloads))) return 'more'
    const { content: text, note, answer: id, queries } = given
    const outgoing = { message: work.message, reply: delivery.reply, status: 'answered', text, address: said.address } as const
    const attempt = await outlet.post({ ...outgoing, answer: { id, queries }, ...(note !== undefined && { note }) }, this.options.patience)
    return attempt.end === 'sent' ? this.#sent(work, delivery, given) : this.#settle(work, delivery, attempt)
  }

  async #tell(work: AddressedMessage, sent: Notice): Promise<NextStep> {
    const { conversation, said } = work
    const { reply, reason, error, notice } = sent
    const outlet = await this.#outlet(work)
    if ('error' in outlet) return this.#unsent(work, sent, 'refused', outlet.error)
    if (!outlet.post) return this.fail(work, reason, error, notice)
    if (!work.lease.isHeld) return endedElsewhere
    const begins = { type: 'BeginNotice' as const, data: { conversation: conversation.stream, ...sent } }
    if (!(await this.#begin(work, begins))) return 'more'
    const outgoing = { message: work.message, reply, status: 'failed', text: notice, address: said.address } as const
    const attempt = await outlet.post(outgoing, this.options.patience)
    return attempt.end === 'sent' ? this.fail(work, reason, error, notice) : this.#settle(work, sent, attempt)
  }

  /**
   * Announces the next text; returns false if it must not be sent. The first try may have been recorded without a confirmation: a delivery
   * with this reply id then belongs to this node, as long as it has the lease.
   */
  async #begin(work: AddressedMessage, command: Begins, payloads: readonly SealedPayload[] = []): Promise<boolean> {
    let mayBeRecorded = false as boolean
    const { positions, resource } = await this.untilDone(async () => {
      try {
        return await this.#submit(command, work, payloads)
      } catch (error) {
        if (isProblem(error) && error.code === 'outcome_unknown') mayBeRecorded = true
        throw error
      }
    })
    if (positions.length > 0) return true
    if (!mayBeRecorded || !work.lease.isHeld || resource?.kind !== 'conversation') return false
    const { delivering, notifying } = resource.state
    return (delivering ?? notifying)?.reply === command.data.reply
  }

  async #outlet({ conversation, chatbot }: AddressedMessage): Promise<Outlet> {
    if (conversation.state.channel === 'api') return {}
    try {
      const channel = await channelOf(this.options.log, chatbot, this.options.fetch)
      if (channel.name === conversation.state.channel) return { post: channel.post }
      return { error: `the connection of the chatbot is one of ${channel.name} by now` }
    } catch (error) {
      if (!isProblem(error) || error.code === 'storage_failed') throw error
      return { error: error.detail }
    }
  }

  /** The next step after a try that failed, as far as is known. */
  async #settle(work: AddressedMessage, sent: Delivery | Notice, attempt: Exclude<Attempt, { end: 'sent' }>): Promise<NextStep> {
    const { end, error } = attempt
    const isRepeated = end === 'later' || (end === 'unknown' && knowsReplies(work.conversation))
    if (!isRepeated) return this.#unsent(work, sent, end, error)
    const later = this.later('deliver', work.message, end === 'later' ? attempt.afterMs : undefined)
    if (!later) return this.#unsent(work, sent, end === 'later' ? 'unreachable' : end, error)
    await this.#defer(work, sent, error)
    return later
  }

  #defer(waiting: PendingMessage, { reply }: Delivery | Notice, error: string): Promise<Outcome> {
    const data = { conversation: waiting.conversation.stream, message: waiting.message, reply, error: fit(error) }
    return this.#execute({ type: 'DeferDelivery', data }, waiting)
  }

  async #sent(waiting: PendingMessage, delivery: Delivery, given: DeliverableAnswer, payloads: SealedPayload[] = []): Promise<NextStep> {
    const data = { conversation: waiting.conversation.stream, ...delivery }
    const { positions } = await this.#execute({ type: 'SendMessage', data }, waiting, payloads)
    if (positions.length === 0) return endedElsewhere
    const { answer, content: text, queries, note } = given
    return this.#ended(delivery.message, { status: 'answered', answer, text, queries, ...(note !== undefined && { note }) })
  }

  async #unsent(
    waiting: PendingMessage,
    sent: Delivery | Notice,
    reason: DeliveryFailure,
    error: string,
    payloads: SealedPayload[] = [],
  ): Promise<NextStep> {
    const { conversation } = waiting
    const named = { conversation: conversation.stream, message: sent.message, reason, error }
    this.options.logger.warn(named, isNotice(sent) ? 'a notice was not delivered' : 'an answer was not delivered')
    if (isNotice(sent)) return this.fail(waiting, sent.reason, sent.error)
    const data = { conversation: conversation.stream, ...sent, reason, error: fit(error) }
    const { positions } = await this.#execute({ type: 'FailDelivery', data }, waiting, payloads)
    if (positions.length === 0) return endedElsewhere
    return this.#ended(sent.message, { status: 'failed', reason, error, notice: null })
  }

  #ended(message: string, end: MessageEnd): NextStep {
    this.forget(message)
    this.options.watchers.tell(message, { end })
    return 'more'
  }

  #execute(command: LedgerCommand, waiting: PendingMessage, payloads: readonly SealedPayload[] = []): Promise<Outcome> {
    return this.untilDone(() => this.#submit(command, waiting, payloads))
  }

  /** @throws ErasedMeanwhileError if a command has texts that an erasure may have removed */
  async #submit(command: LedgerCommand, { origin, guarded }: PendingMessage, payloads: readonly SealedPayload[]): Promise<Outcome> {
    const { ledger } = this.options
    if (payloads.length === 0) return ledger.execute(command, origin)
    if ((await ledger.guarded(origin)).erasures !== guarded.erasures) throw new ErasedMeanwhileError()
    return ledger.execute(command, guarded, { payloads })
  }
}

/** Whether the receiver recognizes a text by its id, so that it may be sent twice. */
const knowsReplies = ({ state: { channel } }: Resource<'conversation'>): boolean => channel === 'webhook'
