type Group = { waiting: Set<string>; running: number }

/**
 * Does work for items of several groups: so many at once, so many of one group, and one at a time for each item. Groups take turns, and
 * within a group the items do. An item that is added while it runs is run again.
 *
 * @example
 * const turns = new FairTurns({ max: 32, perGroupMax: 16 }, (conversation) => answerNext(conversation))
 * turns.add(chatbot, conversation)
 */
export class FairTurns {
  /** In the order of their turns. */
  readonly #groups = new Map<string, Group>()
  readonly #running = new Map<string, { group: string; again: boolean; done: Promise<void> }>()
  #waiting = 0
  #isStopped = false

  /** `run` must not reject. */
  constructor(
    private readonly bounds: { max: number; perGroupMax: number },
    private readonly run: (item: string, group: string) => Promise<void>,
  ) {}

  /** How many items run, and how many wait. */
  counts(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting }
  }

  add(group: string, item: string): void {
    if (this.#isStopped) return
    const running = this.#running.get(item)
    if (running) {
      running.again = true
      return
    }
    const { waiting } = this.#group(group)
    if (!waiting.has(item)) this.#waiting++
    waiting.add(item)
    this.#next()
  }

  /** Begins nothing any more, and resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  #group(name: string): Group {
    const known = this.#groups.get(name)
    if (known) return known
    const group = { waiting: new Set<string>(), running: 0 }
    this.#groups.set(name, group)
    return group
  }

  #next(): void {
    while (!this.#isStopped && this.#running.size < this.bounds.max) {
      const turn = [...this.#groups].find(([, { waiting, running }]) => waiting.size > 0 && running < this.bounds.perGroupMax)
      if (!turn) return
      this.#begin(...turn)
    }
  }

  #begin(name: string, group: Group): void {
    const [item] = group.waiting
    if (item === undefined) return
    group.waiting.delete(item)
    this.#waiting--
    group.running++
    // The next turn is that of the group which had none for longest.
    this.#groups.delete(name)
    this.#groups.set(name, group)
    const done = this.run(item, name).finally(() => this.#ended(name, group, item))
    this.#running.set(item, { group: name, again: false, done })
  }

  #ended(name: string, group: Group, item: string): void {
    const again = this.#running.get(item)?.again === true
    this.#running.delete(item)
    group.running--
    if (group.running === 0 && group.waiting.size === 0) this.#groups.delete(name)
    if (again) this.add(name, item)
    this.#next()
  }
}
