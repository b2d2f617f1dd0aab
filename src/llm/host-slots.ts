import { Problem } from '../basics/errors.js'

export type SlotLimits = { atOnce: number; waiting: number; waitMs: number }

type Waiter = { enter: () => void }

/**
 * Slots for exchanges: each host has the same number. A caller that finds no slot waits for a while, in the order of arrival.
 *
 * @example
 * const leave = await slots.take('127.0.0.1:11434', signal)
 * try { … } finally { leave() }
 */
export class HostSlots {
  readonly #hosts = new Map<string, { taken: number; waiting: Set<Waiter> }>()

  constructor(private readonly most: SlotLimits) {}

  /** Takes a slot, and returns a function that gives it back. @throws Problem busy; the reason of the signal */
  async take(name: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const host = this.#hosts.get(name) ?? { taken: 0, waiting: new Set() }
    this.#hosts.set(name, host)
    if (host.taken < this.most.atOnce) host.taken += 1
    else await this.#turn(name, host.waiting, signal)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      const [next] = host.waiting
      if (next) next.enter()
      else host.taken -= 1
      if (host.taken === 0) this.#hosts.delete(name)
    }
  }

  /** Waits until another caller passes on its slot. */
  #turn(name: string, line: Set<Waiter>, signal: AbortSignal): Promise<void> {
    const { atOnce, waiting, waitMs } = this.most
    if (line.size >= waiting) throw busy(name, atOnce)
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(one)
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
      }
      const one: Waiter = {
        enter: () => {
          leave()
          resolve()
        },
      }
      const refuse = (reason: Error) => {
        leave()
        reject(reason)
      }
      const stop = () => refuse(signal.reason as Error)
      const timer = setTimeout(() => refuse(busy(name, atOnce)), waitMs)
      signal.addEventListener('abort', stop, { once: true })
      line.add(one)
    })
  }
}

const busy = (name: string, atOnce: number): Problem =>
  new Problem('busy', 'Busy', `${atOnce} exchanges with ${name} are under way (llmConcurrentMax)`, {
    hint: 'Try again later.',
    retryAfterSeconds: 5,
  })
