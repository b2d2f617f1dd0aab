import { limits } from '../../basics/limits.js'

/** Tickets and their purposes, until a reader presents them. */
export class Tickets<T> {
  readonly #open = new Map<string, { value: T; timer: NodeJS.Timeout }>()

  /** Makes a ticket valid, for one use, within its time. `onVoid` is called if no reader presents it. */
  add(ticket: string, value: T, onVoid: () => void): void {
    const timer = setTimeout(() => {
      this.#open.delete(ticket)
      onVoid()
    }, limits.connectionTicketMaxAgeMs)
    this.#open.set(ticket, { value, timer })
  }

  /** Returns the purpose of a ticket. A ticket can be used once. */
  take(ticket: string): T | undefined {
    const found = this.#open.get(ticket)
    if (!found) return undefined
    clearTimeout(found.timer)
    this.#open.delete(ticket)
    return found.value
  }
}
