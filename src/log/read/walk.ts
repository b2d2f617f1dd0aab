import { setImmediate } from 'node:timers/promises'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../contract/log.js'

/**
 * The events of the log after a position whose stored text passes a test, in order. They are read in slices with a limit of events
 * and characters; other work can run in between.
 *
 * @example for await (const event of eventsWith(log, 0, (text) => text.includes(id))) …
 */
export async function* eventsWith(
  log: Pick<Log, 'readAll'>,
  after: number,
  wanted: (text: string) => boolean,
): AsyncGenerator<Envelope, void, void> {
  for (;;) {
    const slice = await log.readAll(after, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)
    for (const { text } of slice) if (wanted(text)) yield parseEnvelope(text)
    const last = slice.at(-1)
    if (!last) return
    after = last.position
    await setImmediate()
  }
}

/** The same for one stream, after a version. */
export async function* streamEventsWith(
  log: Pick<Log, 'readStream'>,
  stream: string,
  after: number,
  wanted: (text: string) => boolean,
): AsyncGenerator<Envelope, void, void> {
  for (let version = after; ;) {
    const slice = await log.readStream(stream, version, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)
    for (const { text } of slice) if (wanted(text)) yield parseEnvelope(text)
    if (slice.length === 0) return
    version += slice.length
    await setImmediate()
  }
}

/**
 * The events of one stream up to a version, in order, read in slices in the same way.
 *
 * @example for await (const envelope of eventsOf(log, stream)) found = foldEvent(kind, stream, found, envelope)
 */
export async function* eventsOf(
  log: Pick<Log, 'readStream'>,
  stream: string,
  until = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Envelope, void, void> {
  for (let version = 0; version < until;) {
    const count = Math.min(limits.eventSliceMaxEvents, until - version)
    const slice = await log.readStream(stream, version, count, limits.eventSliceMaxChars)
    for (const { text } of slice) yield parseEnvelope(text)
    if (slice.length === 0) return
    version += slice.length
    if (version < until) await setImmediate()
  }
}

/** Every event of one stream. */
export const streamEvents = async (log: Pick<Log, 'readStream'>, stream: string): Promise<Envelope[]> => {
  const events: Envelope[] = []
  for await (const event of eventsOf(log, stream)) events.push(event)
  return events
}
