import { setImmediate } from 'node:timers/promises'
import type {
  BaseMessageProcessorOptions,
  CurrentMessageProcessorPosition,
  DefaultRecord,
  Event,
  SingleRecordedMessageHandlerWithContext,
} from '@event-driven-io/emmett'
import { ownTypeOf } from '../../../events/foreign.js'
import { retryWhileBusy } from '../../basics/concurrency/retry.js'
import { limits } from '../../basics/limits.js'
import type { CommitListener, Log, StoredEvent } from '../contract/log.js'
import { recordedEvent, typeOf, type LogMetadata } from './recorded-event.js'

type Options<E extends Event> = BaseMessageProcessorOptions<E, LogMetadata, DefaultRecord, bigint>

/**
 * Reacts to events, with the members of emmett's reactor. It gets each event of the types that it can handle, one at a time, in the
 * order of the log. It begins where `startFrom` says, else after its stored checkpoint, else at the first event. With checkpoints it
 * sees each event at least once, even if the process crashes. A processor whose state is in the log needs none: it reads that state
 * and starts from there.
 */
export type Processor<E extends Event = Event> = Pick<Options<E>, 'processorId' | 'canHandle' | 'stopAfter' | 'checkpoints'> & {
  startFrom?: CurrentMessageProcessorPosition<bigint>
  eachMessage: SingleRecordedMessageHandlerWithContext<E, LogMetadata, DefaultRecord>
}

/** A running processor. */
export type Processing = {
  readonly processorId: string
  /** All events up to here have been handled. */
  readonly position: bigint
  /** Resolves when all events up to a position have been handled; rejects when the processor ended before. */
  reached(position: bigint): Promise<void>
  /** Delivers no more events to it, and resolves when the current one has been handled. */
  stop(): Promise<void>
  /** Resolves when `stop` or its own answer stopped it; rejects with an error that it threw, which also ends it. */
  readonly ended: Promise<void>
}

/** Carries out the handling of an event. If it throws, the processor ends. */
type Attempt = (stored: StoredEvent, handle: () => Promise<void>) => Promise<void>

const once: Attempt = (_, handle) => handle()

type ReadableLog = Pick<Log, 'id' | 'readAll' | 'head' | 'onCommitted'>

/**
 * Starts a processor over a log. It learns of new events when they are committed. An error of its reaction ends it, unless `attempt` deals
 * with the error.
 *
 * @example
 * const mails = startProcessor(log, { processorId: 'mails', canHandle: ['InvoiceIssued'], startFrom: 'END', eachMessage: send })
 * await mails.stop()
 */
export const startProcessor = <E extends Event>(log: ReadableLog, processor: Processor<E>, attempt: Attempt = once): Processing =>
  new Run(log, processor, attempt)

class Run<E extends Event> implements Processing {
  readonly ended: Promise<void>
  /** All events up to here are handled; there are events up to `#head`. */
  #at = 0
  #head = 0
  #stopped = false
  #lastCheckpoint: bigint | null = null
  #wake: () => void = () => undefined
  readonly #types: ReadonlySet<string> | undefined
  readonly #waiting = new Set<{ position: bigint; resolve: () => void; reject: (error: Error) => void }>()

  constructor(
    private readonly log: ReadableLog,
    private readonly processor: Processor<E>,
    private readonly attempt: Attempt,
  ) {
    this.#types = processor.canHandle && new Set<string>(processor.canHandle)
    this.ended = this.#run()
  }

  get processorId(): string {
    return this.processor.processorId
  }

  get position(): bigint {
    return BigInt(this.#at)
  }

  async reached(position: bigint): Promise<void> {
    if (this.position >= position) return
    const reached = new Promise<void>((resolve, reject) => this.#waiting.add({ position, resolve, reject }))
    if (this.#isStopping()) this.#giveUp()
    await reached
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    // The caller learns of the failure from `ended`.
    await this.ended.catch(() => undefined)
  }

  #isStopping(): boolean {
    return this.#stopped
  }

  async #run(): Promise<void> {
    // Subscribe before asking for the head, so that no event is missed in between.
    const unsubscribe = this.log.onCommitted((...commit) => this.#committed(...commit))
    try {
      const { position } = await this.log.head()
      this.#head = Math.max(this.#head, position)
      this.#reach(await this.#start(position))
      await this.#follow()
    } finally {
      this.#stopped = true
      unsubscribe()
      this.#giveUp()
    }
  }

  async #start(head: number): Promise<number> {
    const { startFrom, checkpoints, processorId } = this.processor
    if (startFrom === 'END') return head
    if (startFrom === 'BEGINNING') return 0
    const { lastCheckpoint } = startFrom ?? (await checkpoints?.read({ processorId }, {})) ?? { lastCheckpoint: null }
    this.#lastCheckpoint = lastCheckpoint
    return Number(lastCheckpoint ?? 0n)
  }

  #committed(...[position, , events]: Parameters<CommitListener>): void {
    const hasAll = this.#head > 0 && this.#at === this.#head
    this.#head = position
    // At the head nothing need be read if the processor can handle none of the new events.
    if (hasAll && !events.some(({ event }) => this.#canHandle(event.type) || this.#canHandle(ownTypeOf(event.type)))) this.#reach(position)
    else this.#wake()
  }

  #canHandle(type: string | undefined): boolean {
    return !this.#types || (type !== undefined && this.#types.has(type))
  }

  async #follow(): Promise<void> {
    while (!this.#isStopping()) {
      if (this.#at >= this.#head) {
        await new Promise<void>((resolve) => (this.#wake = resolve))
        continue
      }
      for (const stored of await this.#slice()) {
        if (this.#canHandle(typeOf(stored))) await this.attempt(stored, () => this.#handle(stored))
        this.#reach(stored.position)
        if (this.#isStopping()) return
      }
      await setImmediate()
    }
  }

  /** The next events; none when the processor was stopped while a busy log kept it waiting. */
  async #slice(): Promise<readonly StoredEvent[]> {
    const read = () => this.log.readAll(this.#at, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)
    try {
      return await retryWhileBusy(read, () => this.#isStopping())
    } catch (error) {
      if (this.#isStopping()) return []
      throw error
    }
  }

  async #handle(stored: StoredEvent): Promise<void> {
    const { processorId, eachMessage, checkpoints, stopAfter } = this.processor
    const message = recordedEvent<E>(this.log.id, stored)
    const result = await eachMessage(message, {})
    if (checkpoints) {
      const kept = await checkpoints.store({ processorId, version: 1, message, lastCheckpoint: this.#lastCheckpoint }, {})
      if (kept.success) this.#lastCheckpoint = kept.newCheckpoint
    }
    if (result?.type === 'STOP' && result.error) throw result.error
    if (result?.type === 'STOP' || stopAfter?.(message)) this.#stopped = true
  }

  #reach(position: number): void {
    this.#at = position
    for (const waiting of this.#waiting)
      if (waiting.position <= this.position) {
        this.#waiting.delete(waiting)
        waiting.resolve()
      }
  }

  #giveUp(): void {
    for (const { position, reject } of this.#waiting)
      reject(new Error(`the processor ${this.processorId} ended at position ${this.#at}, before ${position}`))
    this.#waiting.clear()
  }
}
