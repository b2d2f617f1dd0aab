import { setTimeout as sleep } from 'node:timers/promises'
import type { Event } from '@event-driven-io/emmett'
import { startProcessor, type Processing, type Processor } from './processor.js'

/** The pause before a processor that an error ended starts again. */
const pauseMs = 2_000

/** A processor that begins after a position. `onFailed` gets each error that ended it. */
type LastingProcessor<E extends Event> = Pick<Processor<E>, 'processorId' | 'canHandle' | 'eachMessage'> & {
  after: number
  onFailed: (error: unknown) => void
}

/**
 * Starts a processor for a reaction of the service, which has to last as long as the service. If an error ends it, it starts again after a
 * pause, with the event that it did not finish: its reaction may see an event twice.
 *
 * @example
 * const reaction = startLastingProcessor(log, { processorId: 'mails', canHandle: ['Issued'], after: 41, eachMessage: send, onFailed })
 * await reaction.stop()
 */
export const startLastingProcessor = <E extends Event>(
  log: Parameters<typeof startProcessor>[0],
  { after, onFailed, ...processor }: LastingProcessor<E>,
): Pick<Processing, 'stop'> => {
  const stopping = new AbortController()
  const { signal } = stopping
  const isStopping = (): boolean => signal.aborted
  const begin = (position: number) => startProcessor<E>(log, { ...processor, startFrom: { lastCheckpoint: BigInt(position) } })
  let processing = begin(after)
  const last = async (): Promise<void> => {
    for (let reached = after; ;) {
      try {
        await processing.ended
        return
      } catch (error) {
        if (isStopping()) return
        onFailed(error)
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      if (isStopping()) return
      // If the error came before the processor knew its place, it is at 0.
      reached = Math.max(reached, Number(processing.position))
      processing = begin(reached)
    }
  }
  const lasted = last()
  return {
    stop: async () => {
      stopping.abort()
      await processing.stop()
      await lasted
    },
  }
}
