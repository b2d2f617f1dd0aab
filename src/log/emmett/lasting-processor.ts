import { setTimeout as sleep } from 'node:timers/promises'
import type { Event } from '@event-driven-io/emmett'
import { growingWait, type Patience } from '../../basics/concurrency/growing-wait.js'
import { KeyedTurns } from '../../basics/concurrency/keyed-turns.js'
import { isBusy } from '../../basics/concurrency/retry.js'
import { limits } from '../../basics/limits.js'
import type { Logger } from '../../basics/logger.js'
import type { StoredEvent } from '../contract/log.js'
import { eventAt } from '../read/slices.js'
import { startProcessor, type Processing, type Processor } from './processor.js'
import { recordedEvent, typeOf } from './recorded-event.js'

/** The pause before a processor that could not read the log starts again. */
const pauseMs = 2_000

/** An event that a reaction could not handle. `tries` is how often it failed for a reason of its own, in this run of the service. */
export type FailedEvent = { position: number; type: string; tries: number; isSetAside: boolean }

/** Gets each error, and the event whose reaction threw it. Without an event, the log could not be read. */
type OnFailed = (error: unknown, failed?: FailedEvent) => void

/** How a reaction deals with events that fail. `againMs`: when those that were set aside are tried again; at most `setAsideMax` are. */
export type ReactionBounds = Patience & { setAsideMax: number; againMs: number }

/** The bounds of the reactions of the service. */
export const usualBounds: ReactionBounds = {
  triesMax: limits.reactionTriesMax,
  firstWaitMs: 1_000,
  factor: 2,
  maxWaitMs: limits.reactionRetryMaxWaitMs,
  setAsideMax: limits.reactionSetAsideMax,
  againMs: limits.reactionAgainMs,
}

/** A processor that begins after a position. */
type LastingProcessor<E extends Event> = Pick<Processor<E>, 'processorId' | 'canHandle' | 'eachMessage'> & {
  after: number
  onFailed: OnFailed
  bounds?: Partial<ReactionBounds> | undefined
}

/** A running reaction to events. */
export type Reaction = {
  /** The number of events that are set aside now. */
  readonly setAside: number
  /** Tells an operator which events are set aside; undefined if none are. It names no resource. */
  warning(): string | undefined
  /** Delivers no more events, and resolves when the current one has been handled. */
  stop(): Promise<void>
}

type ReadableLog = Parameters<typeof startProcessor>[0]

/**
 * Starts a processor for a reaction of the service, which has to last as long as the service.
 *
 * If the reaction to an event fails, the event is tried again, with growing waits, while later events wait. After enough tries it is set
 * aside: the later events come, and the event is tried again from time to time. What is set aside is not stored: the reaction has to find
 * unfinished work in the log when it starts. It may see an event twice, and an event that was set aside after later ones.
 *
 * @example
 * const reaction = startLastingProcessor(log, { processorId: 'mails', canHandle: ['Issued'], after: 41, eachMessage: send, onFailed })
 * await reaction.stop()
 */
export const startLastingProcessor = <E extends Event>(log: ReadableLog, processor: LastingProcessor<E>): Reaction =>
  new LastingReaction(log, processor)

/**
 * Writes failures of a reaction into the log of the service.
 *
 * @example startLastingProcessor(log, { …, onFailed: tellFailures(logger, 'messages') })
 */
export const tellFailures =
  (logger: Logger, what: string): OnFailed =>
  (err, failed) => {
    if (!failed) logger.error({ err }, `${what} could not be followed; trying again`)
    else if (failed.isSetAside) logger.error({ err, ...failed }, `${what}: an event was set aside and is tried again later; others go on`)
    else logger.warn({ err, ...failed }, `${what}: an event could not be handled; trying again`)
  }

class LastingReaction<E extends Event> implements Reaction {
  readonly #stopping = new AbortController()
  readonly #bounds: ReactionBounds
  /** One event is handled at a time, also of those that were set aside. */
  readonly #turns = new KeyedTurns()
  /** The events that are set aside, by position. */
  readonly #aside = new Map<number, FailedEvent>()
  #processing: Processing
  readonly #lasted: Promise<void>
  #againTimer: NodeJS.Timeout | undefined

  constructor(
    private readonly log: ReadableLog,
    private readonly processor: LastingProcessor<E>,
  ) {
    this.#bounds = { ...usualBounds, ...processor.bounds }
    this.#processing = this.#begin(processor.after)
    this.#lasted = this.#last()
  }

  get setAside(): number {
    return this.#aside.size
  }

  warning(): string | undefined {
    const [first] = this.#aside.values()
    if (!first) return undefined
    const { size } = this.#aside
    const which = size === 1 ? 'set an event aside' : `set ${size} events aside, first`
    return `the reaction "${this.processor.processorId}" ${which}: position ${first.position} (${first.type}). It tries again every ${this.#bounds.againMs / 60_000} minutes and at the next start; the log of the service has the errors`
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#againTimer)
    await this.#processing.stop()
    await this.#lasted
    // An event that was set aside may be under way.
    await this.#inTurn(async () => undefined)
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#turns.take('', work)
  }

  #begin(after: number): Processing {
    const { processorId, canHandle, eachMessage } = this.processor
    const startFrom = { lastCheckpoint: BigInt(after) }
    const options = { processorId, eachMessage, startFrom, ...(canHandle && { canHandle }) }
    return startProcessor<E>(this.log, options, (stored, handle) => this.#attempt(stored, handle))
  }

  /** Starts the processor again when it could not read the log, with the event that it did not reach. */
  async #last(): Promise<void> {
    for (let reached = this.processor.after; ;) {
      try {
        await this.#processing.ended
        return
      } catch (error) {
        if (this.#isStopping()) return
        this.processor.onFailed(error)
      }
      await this.#pause(pauseMs).catch(() => undefined)
      if (this.#isStopping()) return
      // If the error came before the processor knew its place, it is at 0.
      reached = Math.max(reached, Number(this.#processing.position))
      this.#processing = this.#begin(reached)
    }
  }

  /** @throws the reason of a stop */
  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal })
  }

  /**
   * Handles an event, and tries again until it is handled or set aside. If too many events are set aside, the fault is hardly one of the
   * events, so this one waits.
   *
   * @throws the error during a stop
   */
  async #attempt(stored: StoredEvent, handle: () => Promise<void>): Promise<void> {
    const { triesMax, setAsideMax } = this.#bounds
    let tries = 0
    for (let waits = 1; ; waits++)
      try {
        await this.#inTurn(handle)
        return
      } catch (error) {
        if (this.#isStopping()) throw error
        // A busy log says nothing about the event.
        if (!isBusy(error)) tries += 1
        const isSetAside = tries >= triesMax && this.#aside.size < setAsideMax
        const failed: FailedEvent = { position: stored.position, type: typeOf(stored) ?? '', tries, isSetAside }
        this.processor.onFailed(error, failed)
        if (isSetAside) {
          this.#keepAside(failed)
          return
        }
        await this.#pause(growingWait(waits, this.#bounds))
      }
  }

  #keepAside(failed: FailedEvent): void {
    this.#aside.set(failed.position, failed)
    this.#tryLater()
  }

  #tryLater(): void {
    if (this.#aside.size === 0 || this.#isStopping()) return
    this.#againTimer ??= setTimeout(() => {
      void this.#tryAside().finally(() => {
        this.#againTimer = undefined
        this.#tryLater()
      })
    }, this.#bounds.againMs).unref()
  }

  /** Tries the events that are set aside once more, the oldest first. */
  async #tryAside(): Promise<void> {
    for (const failed of [...this.#aside.values()]) {
      if (this.#isStopping()) return
      try {
        await this.#inTurn(() => this.#handleAgain(failed.position))
        this.#aside.delete(failed.position)
      } catch (error) {
        if (this.#isStopping()) return
        const again = { ...failed, tries: failed.tries + (isBusy(error) ? 0 : 1) }
        this.#aside.set(failed.position, again)
        this.processor.onFailed(error, again)
      }
    }
  }

  async #handleAgain(position: number): Promise<void> {
    const stored = await eventAt(this.log, position)
    if (stored) await this.processor.eachMessage(recordedEvent<E>(this.log.id, stored), {})
  }
}
