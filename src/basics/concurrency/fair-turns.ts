import { FairQueue } from './fair-queue.js'

/**
 * Runs work for items of several groups. There is a limit for all groups and one for each group, and each item runs once at a time. Groups
 * take turns, and so do the items of a group. An item that is added while it runs will run again.
 *
 * @example
 * const turns = new FairTurns({ max: 32, perGroupMax: 16 }, (conversation) => answerNext(conversation))
 * turns.add(chatbot, conversation)
 */
export class FairTurns {
  readonly #waiting = new Set<string>()
  readonly #queue = new FairQueue<{ client: string; item: string }>()
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>()
  readonly #runningOf = new Map<string, number>()
  #isStopped = false

  /** `run` must not reject. */
  constructor(
    private readonly bounds: { max: number; perGroupMax: number },
    private readonly run: (item: string, group: string) => Promise<void>,
  ) {}

  /** The number of running items, and of waiting items. */
  counts(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.size }
  }

  /** Asks for a turn of an item. A waiting item already has one; a running item gets another turn afterwards. */
  add(group: string, item: string): void {
    const running = this.#running.get(item)
    if (running) running.again = true
    if (running || this.#isStopped || this.#waiting.has(item)) return
    this.#waiting.add(item)
    this.#queue.push({ client: group, item })
    this.#next()
  }

  /** Starts no more items, and resolves when none runs. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  #next(): void {
    while (!this.#isStopped && this.#running.size < this.bounds.max) {
      const next = this.#queue.next((group) => (this.#runningOf.get(group) ?? 0) < this.bounds.perGroupMax)
      if (!next) return
      this.#begin(next.client, next.item)
    }
  }

  #begin(group: string, item: string): void {
    this.#waiting.delete(item)
    this.#count(group, 1)
    const done = this.run(item, group).finally(() => this.#ended(group, item))
    this.#running.set(item, { again: false, done })
  }

  #ended(group: string, item: string): void {
    const again = this.#running.get(item)?.again === true
    this.#running.delete(item)
    this.#count(group, -1)
    if (again) this.add(group, item)
    this.#next()
  }

  #count(group: string, by: 1 | -1): void {
    const running = (this.#runningOf.get(group) ?? 0) + by
    if (running === 0) this.#runningOf.delete(group)
    else this.#runningOf.set(group, running)
  }
}
