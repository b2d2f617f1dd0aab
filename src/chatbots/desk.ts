import { v7 as uuidv7 } from 'uuid'
import type { Ledger } from '../commands/ledger.js'
import type { Conversations } from './conversations.js'
import { Following } from './following.js'
import { endOf, messageOf } from './message-records.js'
import { receiveMessage, type Arrived, type Receipt } from './receiving.js'
import type { MessageEnd, MessageNews } from './watchers.js'

/** A message that was taken, and what follows of it. */
export type Taken = Receipt & { following: Following }

/**
 * Takes messages from any channel, and lets whoever sent one follow it. A message that came before is followed as well, or told as it ended.
 *
 * @example
 * const taken = await desk.take(arrived)
 * const end = taken && (await desk.end(taken, 120_000, call.gone))
 */
export class Desk {
  constructor(
    private readonly ledger: Ledger,
    private readonly conversations: Conversations,
  ) {}

  /** Undefined for a message that is none, as its conversation has not begun. @throws Problem */
  async take(arrived: Arrived): Promise<Taken | undefined> {
    this.conversations.refuseWhileFull()
    const { watchers } = this.conversations
    const message = uuidv7()
    // Followed before it is recorded, so that nothing is missed.
    const following = new Following(watchers, message)
    try {
      const receipt = await receiveMessage(this.ledger, arrived, message)
      if (receipt?.isNew) return { ...receipt, following }
      following.close()
      return receipt && { ...receipt, following: await this.#earlier(receipt) }
    } catch (error) {
      following.close()
      throw error
    }
  }

  async #earlier({ conversation, message }: Receipt): Promise<Following> {
    const { log } = this.ledger
    const following = new Following(this.conversations.watchers, message)
    const record = await messageOf(log, conversation, message)
    const end = record && (await endOf(log, record))
    if (end) following.add({ end })
    return following
  }

  /** Waits for the end of a message; undefined when it has none in time, or when the client leaves or the service stops. */
  async end({ following }: Taken, withinMs: number, gone: AbortSignal): Promise<MessageEnd | undefined> {
    const signal = AbortSignal.any([gone, this.conversations.stopping, AbortSignal.timeout(withinMs)])
    for await (const news of following.news(signal)) if ('end' in news) return news.end
    return undefined
  }

  /** What happens to a message, until it ends, the client leaves or the service stops. @throws Problem when it is read too slowly */
  news({ following }: Taken, gone: AbortSignal): AsyncGenerator<MessageNews, void, void> {
    return following.news(AbortSignal.any([gone, this.conversations.stopping]))
  }
}
