import { setImmediate } from 'node:timers/promises'
import { parseEnvelope, type Envelope } from '../../events/envelope.js'
import { limits } from '../limits.js'
import type { Log } from '../log/log.js'

/**
 * The events of the log after a position whose stored text a test lets through, in order. Others work meanwhile.
 *
 * @example for await (const event of eventsWith(log, 0, (text) => text.includes(id))) …
 */
export async function* eventsWith(
  log: Pick<Log, 'readAll'>,
  after: number,
  wanted: (text: string) => boolean,
): AsyncGenerator<Envelope, void, void> {
  for (;;) {
    const page = await log.readAll(after, limits.followerBatchEvents)
    for (const { text } of page) if (wanted(text)) yield parseEnvelope(text)
    const last = page.at(-1)
    if (!last) return
    after = last.position
    await setImmediate()
  }
}

/** The same of one stream, after a version. */
export async function* streamEventsWith(
  log: Pick<Log, 'readStream'>,
  stream: string,
  after: number,
  wanted: (text: string) => boolean,
): AsyncGenerator<Envelope, void, void> {
  for (;;) {
    const page = await log.readStream(stream, after, limits.followerBatchEvents)
    for (const { text } of page) if (wanted(text)) yield parseEnvelope(text)
    if (page.length === 0) return
    after += page.length
    await setImmediate()
  }
}

/** Every event of one stream. */
export const streamEvents = async (log: Pick<Log, 'readStream'>, stream: string): Promise<Envelope[]> => {
  const events: Envelope[] = []
  for (;;) {
    const page = await log.readStream(stream, events.length, limits.followerBatchEvents)
    events.push(...page.map(({ text }) => parseEnvelope(text)))
    if (page.length === 0) return events
  }
}
