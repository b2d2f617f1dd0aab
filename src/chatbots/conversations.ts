/**
 * Room: conversations: the messages that come, and their answers. It imports events, basics, vault, log, commands, sql/contract, agents
 * and chatbots/channels alone.
 */

import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import { streamId, unreachable, type StreamId } from '../../events/common.js'
import type { ChatbotEvent } from '../../events/chatbot.js'
import type { ConversationEvent } from '../../events/conversation.js'
import type { AskAgent } from '../agents/contract/answering.js'
import { Problem, stopping } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { retryWhileBusy } from '../basics/concurrency/retry-while-busy.js'
import type { TrustedClock } from '../basics/trusted-clock.js'
import type { Ledger } from '../commands/ledger.js'
import type { Lease, Leases } from '../log/contract/leases.js'
import { startProcessor, type Processing } from '../log/emmett/processor.js'
import type { RecordedEvent } from '../log/emmett/recorded-event.js'
import { Answerer } from './answerer.js'
import type { Fetch } from './channels/channel.js'
import { FairTurns } from './fair-turns.js'
import { endOf, messageOf } from './message-records.js'
import { Watchers } from './watchers.js'

type Options = {
  ledger: Ledger
  leases: Leases
  ask: AskAgent
  fetch: Fetch
  /** Its time is believed: a message that waited too long fails for good. */
  clock: Pick<TrustedClock, 'now'>
  logger: Logger
  bounds?: { max: number; perGroupMax: number }
}

/** The events that conversations react to: new messages, and what lets messages that wait go on. */
const reasons = ['MessageReceived', 'ChatbotUpdated', 'ChatbotDeleted'] as const
/** The ends of messages. Another node may have answered a message; its end then comes as an event. */
const ends = ['MessageSent', 'MessageFailed', 'DeliveryFailed'] as const
type Reason = Extract<ConversationEvent | ChatbotEvent, { type: (typeof reasons)[number] | (typeof ends)[number] }>

/** How long a message is left to the node that it came to, which alone can show its sender the answer as it is written. */
const firstChoiceMs = 1_000
/** How long a conversation waits after something that should not have happened. */
const afterFaultMs = 60_000
const pageConversations = 200

/**
 * Answers the messages of all chatbots. It reacts to the event of each message, whoever recorded it; the conversations in the log say what
 * is left to do, so that nothing is lost between a message and its answer. Messages of one conversation are answered in order,
 * conversations side by side, and chatbots in turns. The node that answers a message holds the lease of its conversation.
 *
 * @example const conversations = new Conversations({ ledger, leases, ask, fetch, clock, logger }); await conversations.start(); await conversations.stop()
 */
export class Conversations {
  readonly watchers = new Watchers()
  readonly #stopping = new AbortController()
  readonly #patience = new AbortController()
  readonly #answering: Answerer
  readonly #turns: FairTurns
  /** Conversations whose chatbot does not run, by chatbot. */
  readonly #resting = new Map<string, Set<StreamId>>()
  /** Conversations that wait until they are tried again. */
  readonly #timers = new Map<StreamId, NodeJS.Timeout>()
  /** Conversations that another node has, or has the first choice of. */
  readonly #elsewhere = new Set<StreamId>()
  #reaction: Processing | undefined
  #resumed: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | undefined

  constructor(private readonly options: Options) {
    const { bounds = { max: limits.chatbotsMaxAnswers, perGroupMax: limits.chatbotMaxAnswers } } = options
    const signals = { stopping: this.#stopping.signal, patience: this.#patience.signal }
    this.#answering = new Answerer({ ...options, ...signals, watchers: this.watchers })
    this.#turns = new FairTurns(bounds, (conversation, chatbot) => this.#turn(conversation as StreamId, chatbot))
  }

  /** How many conversations are being answered, and how many wait for their turn. */
  counts(): { running: number; waiting: number } {
    return this.#turns.counts()
  }

  /** Takes up what an earlier run of the service left, in the background, and reacts to messages from now on. */
  async start(): Promise<void> {
    const { ledger, leases } = this.options
    const { log } = ledger
    const { position } = await log.head()
    this.#reaction = startProcessor<Reason>(log, {
      processorId: 'conversations',
      canHandle: leases.areShared ? [...reasons, ...ends] : [...reasons],
      startFrom: { lastCheckpoint: BigInt(position) },
      eachMessage: (event) => this.#react(event),
    })
    this.#reaction.ended.catch((error: unknown) => this.options.logger.error({ err: error }, 'messages are not answered any more'))
    this.#resumed = this.#resume(position).catch((err: unknown) =>
      this.options.logger.error({ err }, 'messages of an earlier run of the service were not taken up'),
    )
  }

  /**
   * Answers no further message. Agents that are asked are given up, and their messages wait for the next start; answers on their way to a
   * chat service are waited for, as long as a stop may take.
   */
  stop(withinMs: number = limits.stopTimeoutMs - 2_000): Promise<void> {
    return (this.#stopped ??= this.#stop(withinMs))
  }

  /** Aborts when it answers no further messages. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  async #stop(withinMs: number): Promise<void> {
    this.#stopping.abort()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    const patience = setTimeout(() => this.#patience.abort(), withinMs)
    await Promise.all([this.#reaction?.stop(), this.#resumed, this.#turns.stop()])
    clearTimeout(patience)
  }

  /** Refuses messages while too many conversations wait. @throws Problem 503 */
  refuseWhileFull(): void {
    const { waiting } = this.#turns.counts()
    if (this.#stopping.signal.aborted) throw stopping()
    if (waiting >= limits.chatbotsMaxWaiting)
      throw new Problem('busy', 'Too many messages', `${waiting} conversations wait for an answer (chatbotsMaxWaiting)`, {
        retryAfterSeconds: 30,
      })
  }

  /** Queues the conversations begun up to a position in which a message waits. Each is read once, a page at a time. */
  async #resume(upTo: number): Promise<void> {
    const { resources } = this.options.ledger.log
    for (let after = 0; !this.#stopping.signal.aborted;) {
      const page = await resources.page('conversation', undefined, after, pageConversations)
      for (const { stream, state } of page) if (state.waiting.length > 0) this.#turns.add(state.chatbot, stream)
      after = page.at(-1)?.id ?? upTo
      if (page.length === 0 || after >= upTo) return
      await setImmediate()
    }
  }

  async #react(event: RecordedEvent<Reason>): Promise<void> {
    const stream = streamId.parse(event.metadata.streamName)
    switch (event.type) {
      case 'MessageReceived': {
        const conversation = await this.#found('conversation', stream)
        if (!conversation) return
        const { chatbot } = conversation.state
        if (this.options.leases.areShared) this.#standBy(stream, chatbot, firstChoiceMs)
        else this.#turns.add(chatbot, stream)
        return
      }
      case 'ChatbotUpdated':
      case 'ChatbotDeleted': {
        const resting = this.#resting.get(stream) ?? []
        this.#resting.delete(stream)
        for (const conversation of resting) this.#turns.add(stream, conversation)
        return
      }
      case 'MessageSent':
      case 'MessageFailed':
      case 'DeliveryFailed':
        return this.#tellEnd(stream, event.data.message)
      default:
        unreachable(event)
    }
  }

  /** A message came to this node: others leave it the first choice. */
  came(conversation: StreamId, chatbot: string): void {
    if (this.options.leases.areShared) this.#turns.add(chatbot, conversation)
  }

  /** Another node may answer: this one looks later whether it has. */
  #standBy(conversation: StreamId, chatbot: string, ms: number): void {
    if (this.#elsewhere.has(conversation)) return
    this.#elsewhere.add(conversation)
    const look = () => {
      this.#elsewhere.delete(conversation)
      this.#turns.add(chatbot, conversation)
    }
    setTimeout(look, ms).unref()
  }

  /** Tells those who wait here for a message how it ended, if they do not know yet. */
  async #tellEnd(conversation: StreamId, message: string): Promise<void> {
    if (!this.watchers.has(message)) return
    const { log } = this.options.ledger
    try {
      const record = await messageOf(log, conversation, message)
      const end = record && (await endOf(log, record))
      if (end) this.watchers.tell(message, { end })
    } catch (err) {
      // Whoever waits reads it later.
      this.options.logger.warn({ err, conversation, message }, 'the end of a message was not told')
    }
  }

  #found<K extends 'conversation' | 'chatbot'>(kind: K, stream: StreamId) {
    return retryWhileBusy(
      () => this.options.ledger.log.resources.byStream(kind, stream),
      () => this.#stopping.signal.aborted,
    )
  }

  async #turn(conversation: StreamId, chatbot: string): Promise<void> {
    // A new message does not let the one before it be tried earlier.
    if (this.#timers.has(conversation)) return
    const lease = await this.options.leases.take(`conversation:${conversation}`)
    if (!lease) {
      this.#standBy(conversation, chatbot, limits.leaseLookIntervalMs)
      return
    }
    const later = (ms: number) => this.#later(conversation, chatbot, ms, lease)
    let isKept = false
    try {
      const next = await this.#answering.next(conversation, lease)
      if (next === 'more') this.#turns.add(chatbot, conversation)
      else if (next === 'stopped') await this.#rest(conversation, chatbot as StreamId)
      else if (next !== 'done') isKept = later(next.afterMs)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.options.logger.error({ err: error, conversation }, 'a message was not answered; it is tried again')
      isKept = later(afterFaultMs)
    } finally {
      if (!isKept) await lease.release()
    }
  }

  /** Tries again later; until then the lease is kept, so that no other node tries earlier. Returns false when the service stops. */
  #later(conversation: StreamId, chatbot: string, afterMs: number, lease: Lease): boolean {
    if (this.#stopping.signal.aborted) return false
    const again = () => {
      this.#timers.delete(conversation)
      this.#turns.add(chatbot, conversation)
    }
    this.#timers.set(
      conversation,
      setTimeout(() => void lease.release().finally(again), afterMs),
    )
    return true
  }

  /** The messages wait until the chatbot runs again. */
  async #rest(conversation: StreamId, chatbot: StreamId): Promise<void> {
    const resting = this.#resting.get(chatbot) ?? new Set()
    this.#resting.set(chatbot, resting)
    resting.add(conversation)
    // It may have been started since it was looked at.
    const found = await this.#found('chatbot', chatbot)
    if ((!found || found.state.is_running) && resting.delete(conversation)) this.#turns.add(chatbot, conversation)
  }
}
