import { FairQueue } from '../basics/concurrency/fair-queue.js'

/**
 * Does work for items of several groups, with limits for all groups and for each, and one run at a time for each item. Groups take turns,
 * and within a group the items do. An item that is added while it runs is run again.
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

  /** How many items run, and how many wait. */
  counts(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.size }
  }

  /** Asks for a turn of an item. An item that waits has one already; one that is running gets another turn behind it. */
  add(group: string, item: string): void {
    const running = this.#running.get(item)
    if (running) running.again = true
    if (running || this.#isStopped || this.#waiting.has(item)) return
    this.#waiting.add(item)
    this.#queue.push({ client: group, item })
    this.#next()
  }

  /** Begins nothing any more, and resolves when nothing runs. */
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
