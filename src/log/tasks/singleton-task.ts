/** Room: work that goes on beside a log, on one node for all of them. It imports only basics and log/contract. */

import { limits } from '../../basics/limits.js'
import type { Lease, Leases } from '../contract/leases.js'

/** Called after each try of some work. */
export type OnTried = (succeeded: boolean) => void

type Options = {
  leases: Leases
  name: string
  /** Begins the work; returns the function that ends it. Work that can fail on one node alone says how each try ended. */
  begin: (lease: Lease, tried: OnTried) => (() => unknown) | Promise<() => unknown>
  onFailed: (error: unknown) => void
  lookMs?: number
  restMs?: number
}

/**
 * Work that one node does for all nodes. When that node falls silent, another one takes the work over. It also does so when the work failed
 * there several times in a row: what it needs may be missing on that node alone.
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
    let leave: (afterMs?: number) => void = () => undefined
    let failures = 0
    const tried = (succeeded: boolean) => {
      failures = succeeded ? 0 : failures + 1
      if (failures >= limits.taskFailuresMax && this.options.leases.areShared) leave(this.options.restMs ?? limits.taskRestMs)
    }
    try {
      end = await this.options.begin(lease, tried)
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
    leave = (afterMs) => {
      // It is left once, so that there is one next look.
      if (!ended) void this.#end?.().then(() => this.#lookLater(afterMs))
    }
    if (lease.lost.aborted) leave()
    else lease.lost.addEventListener('abort', () => leave(), { once: true })
  }

  #lookLater(afterMs = this.options.lookMs ?? limits.leaseLookIntervalMs): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => void this.start(), afterMs)
    this.#timer.unref()
  }
}
