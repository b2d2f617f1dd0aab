import type {
  BaseMessageProcessorOptions,
  CurrentMessageProcessorPosition,
  DefaultRecord,
  Event,
  SingleRecordedMessageHandlerWithContext,
} from '@event-driven-io/emmett'
import { setImmediate } from 'node:timers/promises'
import { ownTypeOf } from '../../../events/foreign.js'
import { limits } from '../../basics/limits.js'
import { retryWhileBusy } from '../../basics/retry-while-busy.js'
import type { CommitListener, Log, StoredEvent } from '../contract/log.js'
import { recordedEvent, typeOf, type LogMetadata } from './recorded-event.js'

type Options<E extends Event> = BaseMessageProcessorOptions<E, LogMetadata, DefaultRecord, bigint>

/**
 * What reacts to events, with the members of emmett's reactor: it is given each event of the types that it can handle, in the
 * order of the log, one after the other. It begins where `startFrom` says, else after the checkpoint that it keeps, else at the
 * first event. With checkpoints it sees each event at least once, whatever becomes of the process. One whose state stands in the
 * log needs none: it looks at that state, and starts from there.
 */
export type Processor<E extends Event = Event> = Pick<Options<E>, 'processorId' | 'canHandle' | 'stopAfter' | 'checkpoints'> & {
  startFrom?: CurrentMessageProcessorPosition<bigint>
  eachMessage: SingleRecordedMessageHandlerWithContext<E, LogMetadata, DefaultRecord>
}

/** A processor at work. */
export type Processing = {
  readonly processorId: string
  /** All events up to here have been handled. */
  readonly position: bigint
  /** Resolves when all events up to a position have been handled; rejects when the processor ended before. */
  reached(position: bigint): Promise<void>
  /** Gives it no more events, and resolves when the one under way has been handled. */
  stop(): Promise<void>
  /** Resolves when it was stopped, by `stop` or by its own answer; rejects with what it threw, after which it is given no more. */
  readonly ended: Promise<void>
}

type Reading = Pick<Log, 'id' | 'readAll' | 'head' | 'onCommitted'>

/**
 * Starts a processor over a log, of whose new events it hears with their commit.
 *
 * @example
 * const mails = startProcessor(log, { processorId: 'mails', canHandle: ['InvoiceIssued'], startFrom: 'END', eachMessage: send })
 * await mails.stop()
 */
export const startProcessor = <E extends Event>(log: Reading, processor: Processor<E>): Processing => new Run(log, processor)

class Run<E extends Event> implements Processing {
  readonly ended: Promise<void>
  /** All events up to here are handled, and up to `#head` there are events. */
  #at = 0
  #head = 0
  #stopped = false
  #lastCheckpoint: bigint | null = null
  #wake: () => void = () => undefined
  readonly #types: ReadonlySet<string> | undefined
  readonly #waiting = new Set<{ position: bigint; resolve: () => void; reject: (error: Error) => void }>()

  constructor(
    private readonly log: Reading,
    private readonly processor: Processor<E>,
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
    // Who started it hears of its failure from `ended`.
    await this.ended.catch(() => undefined)
  }

  #isStopping(): boolean {
    return this.#stopped
  }

  async #run(): Promise<void> {
    // Before the head is asked for, so that nothing falls in between.
    const unsubscribe = this.log.onCommitted((...commit) => this.#committed(...commit))
    try {
      const { position } = await this.log.head()
      this.#head = Math.max(this.#head, position)
      this.#at = await this.#start(position)
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
    // At the head nothing need be read to know that none of these is of interest.
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
        if (this.#canHandle(typeOf(stored))) await this.#handle(stored)
        this.#reach(stored.position)
        if (this.#isStopping()) return
      }
      await setImmediate()
    }
  }

  /** What comes next; nothing when a log that is busy kept it waiting until it was stopped. */
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
