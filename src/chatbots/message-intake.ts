import { v7 as uuidv7 } from 'uuid'
import type { StreamId } from '../../events/common.js'
import { abortWith } from '../basics/concurrency/bounded-waits.js'
import type { Ledger } from '../commands/ledger.js'
import type { Log } from '../log/contract/log.js'
import type { Conversations } from './conversations.js'
import { MessageFollower } from './message-follower.js'
import { endOf, erasedMessage, messageOf } from './message-records.js'
import { receiveMessage, type ChatbotMessage, type Receipt } from './receiving.js'
import type { MessageEnd, MessageNews } from './watchers.js'

type Parts = { ledger: Ledger; log: Log; conversations: Conversations }

/** A received message, and the follower of its news. */
export type AcceptedMessage = Receipt & { follower: MessageFollower }

/**
 * Receives messages from all channels. The sender of a message can follow it to its end, even if the message came before. If it has already
 * ended, the sender gets its end at once.
 *
 * @example
 * const taken = await intake.take(arrived)
 * const end = taken && (await intake.end(taken, 120_000, call.gone))
 */
export class MessageIntake {
  constructor(private readonly parts: Parts) {}

  /** @returns undefined for a message that does not count, because its conversation has not begun. @throws Problem */
  async take(arrived: ChatbotMessage): Promise<AcceptedMessage | undefined> {
    const { conversations } = this.parts
    const { watchers } = conversations
    conversations.refuseWhileFull()
    const message = uuidv7()
    // The follower starts before the message is recorded, so that it misses nothing.
    const follower = new MessageFollower(watchers, message)
    let isFollowed = false
    try {
      const receipt = await receiveMessage(this.parts, arrived, message)
      isFollowed = receipt?.isNew === true
      if (receipt?.isNew) conversations.came(receipt.conversation, arrived.chatbot.stream)
      return receipt && { ...receipt, follower: isFollowed ? follower : new MessageFollower(watchers, receipt.message) }
    } finally {
      if (!isFollowed) follower.close()
    }
  }

  /** Waits for the end of a message. @returns undefined if it does not end in time, if the client leaves, or if the service stops */
  async end(taken: AcceptedMessage, withinMs: number, gone: AbortSignal): Promise<MessageEnd | undefined> {
    for await (const news of this.news(taken, AbortSignal.any([gone, AbortSignal.timeout(withinMs)]))) if ('end' in news) return news.end
    return undefined
  }

  /** The news of a message, until it ends, the client leaves or the service stops. @throws Problem when it is read too slowly */
  async *news({ conversation, message, isNew, follower }: AcceptedMessage, gone: AbortSignal): AsyncGenerator<MessageNews, void, void> {
    const ends = new AbortController()
    const release = abortWith(ends, [gone, this.parts.conversations.stopping])
    try {
      if (!isNew) await this.#addEnd(follower, conversation, message)
      yield* follower.news(ends.signal)
    } finally {
      release()
      follower.close()
    }
  }

  /**
   * Adds the end of an earlier message, if it has ended. Only a follower needs this, because it may read a long conversation.
   *
   * @throws Problem erased
   */
  async #addEnd(follower: MessageFollower, conversation: StreamId, message: string): Promise<void> {
    const { log } = this.parts
    const record = await messageOf(log, conversation, message)
    const end = record && (await endOf(log, record))
    if (end && record.erased) throw erasedMessage(record.id)
    if (end) follower.add({ end })
  }
}
