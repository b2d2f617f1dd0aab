/**
 * A queue that takes clients in turn, and serves the requests of one client in the order of arrival. If a client sends a thousand requests
 * at once, the other clients wait for only one of them.
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

  /** The number of waiting requests of a client. */
  of(client: string): number {
    return this.#lines.get(client)?.length ?? 0
  }

  /** Adds a request behind the others of its client, or before them. */
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

  /** Removes a request that no longer waits. */
  remove(item: T): void {
    const line = this.#lines.get(item.client)
    const index = line?.indexOf(item) ?? -1
    if (!line || index < 0) return
    line.splice(index, 1)
    this.#length -= 1
    if (line.length === 0) this.#lines.delete(item.client)
  }
}
