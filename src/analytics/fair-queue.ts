/**
 * Those who wait, in the order in which they are served: one of each client in turn, and those of one client as they came. A
 * client that sends a thousand at once delays itself, and others by one.
 *
 * @example
 * const queue = new FairQueue<{ client: string }>()
 * queue.push({ client: 'a' }); queue.push({ client: 'a' }); queue.push({ client: 'b' })
 * queue.next(() => true) // a's first; then b's; then a's second
 */
export class FairQueue<T extends { readonly client: string }> {
  /** In the order of the clients' turns. */
  readonly #lines = new Map<string, T[]>()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** How many of a client wait. */
  of(client: string): number {
    return this.#lines.get(client)?.length ?? 0
  }

  /** Adds one behind those of its client, or before them. */
  push(item: T, { first = false }: { first?: boolean } = {}): void {
    const line = this.#lines.get(item.client)
    this.#length += 1
    if (!line) this.#lines.set(item.client, [item])
    else if (first) line.unshift(item)
    else line.push(item)
  }

  /** Takes out the next one whose client may have its turn. */
  next(may: (client: string) => boolean): T | undefined {
    for (const [client, line] of this.#lines) {
      if (!may(client)) continue
      const item = line.shift()
      this.#lines.delete(client)
      if (line.length > 0) this.#lines.set(client, line)
      this.#length -= 1
      return item
    }
    return undefined
  }

  /** Takes one out that waits no longer. */
  remove(item: T): void {
    const line = this.#lines.get(item.client)
    const index = line?.indexOf(item) ?? -1
    if (!line || index < 0) return
    line.splice(index, 1)
    this.#length -= 1
    if (line.length === 0) this.#lines.delete(item.client)
  }
}
