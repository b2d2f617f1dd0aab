/**
 * Room: conversations: incoming messages and their answers. It imports only events, basics, vault, log, commands, sql/contract, agents and
 * chatbots/channels.
 */

import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { ChatbotEvent } from '../../events/chatbot.js'
import { streamId, unreachable, type StreamId } from '../../events/common.js'
import type { ConversationEvent } from '../../events/conversation.js'
import type { AskAgent } from '../agents/contract/answering.js'
import { FairTurns } from '../basics/concurrency/fair-turns.js'
import { retryWhileBusy } from '../basics/concurrency/retry.js'
import { Problem, stopping } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { Logger } from '../basics/logger.js'
import type { TrustedClock } from '../basics/trusted-clock.js'
import type { Ledger } from '../commands/ledger.js'
import type { Lease, Leases } from '../log/contract/leases.js'
import type { Log } from '../log/contract/log.js'
import { startLastingProcessor, tellFailures, type Reaction, type ReactionBounds } from '../log/emmett/lasting-processor.js'
import type { RecordedEvent } from '../log/emmett/recorded-event.js'
import { Answerer, cameAt } from './answerer.js'
import type { Fetch } from './channels/channel.js'
import { endOf, messageOf } from './message-records.js'
import { Watchers } from './watchers.js'

type Options = {
  ledger: Ledger
  log: Log
  leases: Leases
  ask: AskAgent
  fetch: Fetch
  /** The trusted clock: a message that waited too long fails permanently. */
  clock: Pick<TrustedClock, 'now'>
  logger: Logger
  /** Whether queries of agents can be answered here now; by default they can. */
  hasSql?: () => boolean
  /** How long other nodes leave a message to the node that received it; a second by default. */
  firstChoiceMs?: number
  bounds?: { max: number; perGroupMax: number }
  /** The patience of the reaction to messages, and that with one message after faults; the usual ones by default. */
  reactionBounds?: Partial<ReactionBounds>
}

/** The events that conversations react to: new messages, and events that let waiting messages continue. */
const reasons = ['MessageReceived', 'ChatbotUpdated', 'ChatbotDeleted'] as const
/** The events that end a message. If another node answers a message, this node learns of the end by its event. */
const ends = ['MessageSent', 'MessageFailed', 'DeliveryFailed'] as const
type Reason = Extract<ConversationEvent | ChatbotEvent, { type: (typeof reasons)[number] | (typeof ends)[number] }>

/** The usual time for which other nodes leave a message to its node. Only that node can stream the answer to the sender. */
const usualFirstChoiceMs = 1_000
/** How long a node whose SQL cannot answer leaves a message to other nodes. After that it asks the agent, which may need no SQL. */
const withoutSqlMs = 60_000
/** How long a conversation waits after an unexpected error. */
const afterFaultMs = 60_000
/** How long the messages of an earlier run of the service wait after they could not be taken up. */
const resumeAgainMs = 2_000
const pageConversations = 200

/**
 * Answers the messages of all chatbots. It reacts to the event of each message, from any node. The conversations in the log show the
 * remaining work, so that no message is lost before its answer. It answers the messages of one conversation in order, conversations in
 * parallel, and chatbots in turns. The node that answers a message holds the lease of its conversation.
 *
 * @example
 * const conversations = new Conversations({ ledger, log, leases, ask, fetch, clock, logger })
 * await conversations.start(); await conversations.stop()
 */
export class Conversations {
  readonly watchers = new Watchers()
  readonly #stopping = new AbortController()
  readonly #patience = new AbortController()
  readonly #answering: Answerer
  readonly #turns: FairTurns
  /** Conversations whose chatbot does not run, by chatbot. */
  readonly #resting = new Map<string, Set<StreamId>>()
  /** Conversations that wait for their next try. */
  readonly #timers = new Map<StreamId, NodeJS.Timeout>()
  /** Conversations that another node answers, or may answer first. */
  readonly #elsewhere = new Set<StreamId>()
  #reaction: Reaction | undefined
  #resumed: Promise<void> = Promise.resolve()

  constructor(private readonly options: Options) {
    const { bounds = { max: limits.chatbotsMaxAnswers, perGroupMax: limits.chatbotMaxAnswers } } = options
    const signals = { stopping: this.#stopping.signal, patience: this.#patience.signal }
    this.#answering = new Answerer({ ...options, ...signals, watchers: this.watchers, tries: options.reactionBounds })
    this.#turns = new FairTurns(bounds, (conversation, chatbot) => this.#turn(conversation as StreamId, chatbot))
  }

  /** The number of conversations that are being answered, and of those that wait for their turn. */
  counts(): { running: number; waiting: number } {
    return this.#turns.counts()
  }

  /** Continues the work of an earlier run of the service in the background, and reacts to messages from now on. */
  async start(): Promise<void> {
    const { log, leases, logger } = this.options
    const { position } = await log.head()
    this.#reaction = startLastingProcessor<Reason>(log, {
      processorId: 'conversations',
      canHandle: leases.areShared ? [...reasons, ...ends] : [...reasons],
      after: position,
      eachMessage: (event) => this.#react(event),
      onFailed: tellFailures(logger, 'messages'),
      bounds: this.options.reactionBounds,
    })
    this.#resumed = this.#resumeUntilDone(position)
  }

  /**
   * Stops answering. Running answers of agents are given up, and their messages wait for the next start. It waits for answers on their way
   * to a chat service, as long as a stop may take.
   */
  async stop(withinMs: number = limits.stopTimeoutMs - 2_000): Promise<void> {
    this.#stopping.abort()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    const patience = setTimeout(() => this.#patience.abort(), withinMs)
    await Promise.all([this.#reaction?.stop(), this.#resumed, this.#turns.stop()])
    clearTimeout(patience)
  }

  /** The reaction to messages; `start` starts it. */
  get reaction(): Reaction | undefined {
    return this.#reaction
  }

  /** Aborts when it stops answering. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
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

  async #resumeUntilDone(upTo: number): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted)
      try {
        await this.#resume(upTo)
        return
      } catch (err) {
        this.options.logger.error({ err }, 'messages of an earlier run of the service were not taken up; trying again')
        await sleep(resumeAgainMs, undefined, { signal }).catch(() => undefined)
      }
  }

  /** Queues the conversations that began up to a position and have a waiting message. Each is read once, a page at a time. */
  async #resume(upTo: number): Promise<void> {
    const { resources } = this.options.log
    for (let after = 0; !this.#stopping.signal.aborted;) {
      const page = await resources.page('conversation', undefined, after, pageConversations)
      for (const { stream, state } of page) if (state.waiting.length > 0) this.#turns.add(state.chatbot, stream)
      after = page.at(-1)?.id ?? upTo
      if (page.length === 0 || after >= upTo) return
      await setImmediate()
    }
  }

  async #react(event: RecordedEvent<Reason>): Promise<void> {
    const { leases, firstChoiceMs = usualFirstChoiceMs } = this.options
    const stream = streamId.parse(event.metadata.streamName)
    switch (event.type) {
      case 'MessageReceived': {
        const conversation = await this.#found('conversation', stream)
        if (!conversation) return
        const { chatbot } = conversation.state
        if (leases.areShared) this.#standBy(stream, chatbot, firstChoiceMs)
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
        this.#answering.endedElsewhere(stream, event.data.message)
        return this.#tellEnd(stream, event.data.message)
      default:
        unreachable(event)
    }
  }

  /** A message came to this node: other nodes leave it to this one first. */
  came(conversation: StreamId, chatbot: string): void {
    if (this.options.leases.areShared) this.#turns.add(chatbot, conversation)
  }

  /** Another node may answer: this node checks later whether it has. */
  #standBy(conversation: StreamId, chatbot: string, ms: number): void {
    if (this.#elsewhere.has(conversation)) return
    this.#elsewhere.add(conversation)
    const look = () => {
      this.#elsewhere.delete(conversation)
      this.#turns.add(chatbot, conversation)
    }
    setTimeout(look, ms).unref()
  }

  /** Reports the end of a message to the clients that wait for it here, if they do not know it yet. */
  async #tellEnd(conversation: StreamId, message: string): Promise<void> {
    if (!this.watchers.has(message)) return
    const { log } = this.options
    try {
      const record = await messageOf(log, conversation, message)
      const end = record && (await endOf(log, record))
      if (end) this.watchers.tell(message, { end })
    } catch (err) {
      // The waiting clients read it later.
      this.options.logger.warn({ err, conversation, message }, 'the end of a message was not told')
    }
  }

  #found<K extends 'conversation' | 'chatbot'>(kind: K, stream: StreamId) {
    return retryWhileBusy(
      () => this.options.log.resources.byStream(kind, stream),
      () => this.#stopping.signal.aborted,
    )
  }

  async #turn(conversation: StreamId, chatbot: string): Promise<void> {
    // A new message does not make the next try of the earlier message come sooner.
    if (this.#timers.has(conversation)) return
    const { leases, clock, hasSql } = this.options
    const since = leases.areShared ? await this.#waitsSince(conversation) : 0
    if (since === undefined) return
    const isLeft = hasSql?.() === false && clock.now() - since < withoutSqlMs
    const lease = isLeft ? undefined : await leases.take(`conversation:${conversation}`)
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

  /**
   * When the first waiting message of a conversation came, in milliseconds since 1970. Undefined if none waits, as far as this node knows:
   * most were answered by another node. A message that this node does not know yet gets its turn by its event.
   */
  async #waitsSince(conversation: StreamId): Promise<number | undefined> {
    try {
      const [first] = (await this.#found('conversation', conversation))?.state.waiting ?? []
      return first && cameAt(first.message)
    } catch {
      // The answer finds out.
      return 0
    }
  }

  /** Tries again later. Until then it keeps the lease, so that no other node tries earlier. Returns false if the service stops. */
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
    // Somebody may have started the chatbot since this node read it.
    const found = await this.#found('chatbot', chatbot)
    if ((!found || found.state.is_running) && resting.delete(conversation)) this.#turns.add(chatbot, conversation)
  }
}
