import { limits } from '../../basics/limits.js'

/** What a ticket is for, until somebody presents it. */
export class Tickets<T> {
  readonly #open = new Map<string, { value: T; timer: NodeJS.Timeout }>()

  /** Makes a ticket valid, for one use, within its time. `onVoid` is called if nobody comes. */
  add(ticket: string, value: T, onVoid: () => void): void {
    const timer = setTimeout(() => {
      this.#open.delete(ticket)
      onVoid()
    }, limits.connectionTicketMaxAgeMs)
    this.#open.set(ticket, { value, timer })
  }

  /** What a ticket is for, once. */
  take(ticket: string): T | undefined {
    const found = this.#open.get(ticket)
    if (!found) return undefined
    clearTimeout(found.timer)
    this.#open.delete(ticket)
    return found.value
  }

  /** Takes back the first ticket that fits. @returns whether there was one */
  takeBack(fits: (value: T) => boolean): boolean {
    const found = [...this.#open].find(([, { value }]) => fits(value))
    if (found) this.take(found[0])
    return found !== undefined
  }
}
