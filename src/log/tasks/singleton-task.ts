/** Room: work that goes on beside a log, on one node for all of them. It imports only basics and log/contract. */

import { limits } from '../../basics/limits.js'
import type { Lease, Leases } from '../contract/leases.js'

type Options = {
  leases: Leases
  name: string
  /** Begins the work; returns the function that ends it. */
  begin: (lease: Lease) => (() => unknown) | Promise<() => unknown>
  onFailed: (error: unknown) => void
  lookMs?: number
}

/**
 * Work that one node does for all nodes. When that node falls silent, another one takes the work over.
 *
 * @example
 * const task = new SingletonTask({ leases, name: 'retention', begin: () => keepFor(30 * 86_400_000, options), onFailed })
 * await task.start()
 * await task.stop()
 */
export class SingletonTask {
  #timer: NodeJS.Timeout | undefined
  #end: (() => Promise<void>) | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(private readonly options: Options) {}

  /** Whether this node does it. */
  get isOurs(): boolean {
    return this.#end !== undefined
  }

  /** Resolves when the work has begun here, or when another node does it. */
  start(): Promise<void> {
    return (this.#looking = this.#look())
  }

  /** Ends the work, and leaves it to another node. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#looking
    await this.#end?.()
  }

  async #look(): Promise<void> {
    try {
      const lease = await this.options.leases.take(this.options.name)
      if (lease) await this.#begin(lease)
      else this.#lookLater()
    } catch (error) {
      this.options.onFailed(error)
      this.#lookLater()
    }
  }

  async #begin(lease: Lease): Promise<void> {
    let end: () => unknown
    try {
      end = await this.options.begin(lease)
    } catch (error) {
      await lease.release()
      throw error
    }
    let ended: Promise<void> | undefined
    const endOnce = async () => {
      try {
        await end()
      } catch (error) {
        this.options.onFailed(error)
      }
      this.#end = undefined
      await lease.release()
    }
    this.#end = () => (ended ??= endOnce())
    const onLost = () => void this.#end?.().then(() => this.#lookLater())
    if (lease.lost.aborted) onLost()
    else lease.lost.addEventListener('abort', onLost, { once: true })
  }

  #lookLater(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => void this.start(), this.options.lookMs ?? limits.leaseLookIntervalMs)
    this.#timer.unref()
  }
}
