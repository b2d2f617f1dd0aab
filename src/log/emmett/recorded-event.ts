import { setImmediate } from 'node:timers/promises'
import type { Event, ReadEvent, ReadEventMetadataWithGlobalPosition } from '@event-driven-io/emmett'
import { parseEnvelope, type Envelope, readKind } from '../../../events/stored/envelope.js'
import { ownTypeOf } from '../../../events/foreign.js'
import { limits } from '../../basics/limits.js'
import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { Log, StoredEvent } from '../contract/log.js'

/** emmett's metadata of a recorded event, and who wrote it, when and why; `recordedAt` is UTC with microseconds. */
export type LogMetadata = ReadEventMetadataWithGlobalPosition &
  Readonly<Pick<Envelope, 'actor' | 'request' | 'correlation' | 'causation'> & { recordedAt: string }>

/** An event as emmett reads it: a foreign event has the type that its owner gave it, an event of the service has today's schema. */
export type RecordedEvent<E extends Event = Event> = ReadEvent<E, LogMetadata>

/** @throws Error when the text is not an event */
export const recordedEvent = <E extends Event>(logId: string, { text }: StoredEvent): RecordedEvent<E> => {
  const envelope = parseEnvelope(text)
  const { position, stream, version, recorded_at, actor, request, correlation, causation } = envelope
  const { type, data } = currentEvent(envelope)
  const metadata: LogMetadata = {
    messageId: `${logId}/${position}`,
    streamName: stream,
    streamPosition: BigInt(version),
    globalPosition: BigInt(position),
    recordedAt: recorded_at,
    ...{ actor, request, correlation, causation },
  }
  return { type: ownTypeOf(type), data, kind: 'Event', metadata } as unknown as RecordedEvent<E>
}

/** The type that the event's owner gave it; undefined when the text is not an event. */
export const typeOf = ({ text }: StoredEvent): string | undefined => {
  const type = readKind(text)?.type
  return type === undefined ? undefined : ownTypeOf(type)
}

/**
 * The events of a stream after one version up to another. They are read in slices, so that other work can run in between.
 *
 * @example for await (const event of recordedStream(log, 'invoice-7', 0, 10)) …
 */
export async function* recordedStream<E extends Event>(
  log: Pick<Log, 'id' | 'readStream'>,
  stream: string,
  after: number,
  until: number,
): AsyncGenerator<RecordedEvent<E>, void, void> {
  for (let version = after; version < until;) {
    const count = Math.min(limits.eventSliceMaxEvents, until - version)
    const slice = await log.readStream(stream, version, count, limits.eventSliceMaxChars)
    for (const stored of slice) yield recordedEvent<E>(log.id, stored)
    if (slice.length === 0) return
    version += slice.length
    if (version < until) await setImmediate()
  }
}

/** Which events of the log are read: those after a position, up to and including another, of these types. */
export type ReadAllOptions<E extends Event = Event> = { after?: bigint; until?: bigint; types?: readonly E['type'][] }

/** The same for the whole log: up to its current head, unless an end is given. */
export async function* recordedLog<E extends Event>(
  log: Pick<Log, 'id' | 'readAll' | 'head'>,
  { after = 0n, until, types }: ReadAllOptions<E> = {},
): AsyncGenerator<RecordedEvent<E>, void, void> {
  const { position: head } = await log.head()
  const end = until === undefined || until > BigInt(head) ? head : Number(until)
  const wanted = types && new Set<string>(types)
  for (let position = Number(after); position < end;) {
    const slice = await log.readAll(position, Math.min(limits.eventSliceMaxEvents, end - position), limits.eventSliceMaxChars)
    for (const stored of slice) if (!wanted || wanted.has(typeOf(stored) ?? '')) yield recordedEvent<E>(log.id, stored)
    const last = slice.at(-1)
    if (!last) return
    position = last.position
    if (position < end) await setImmediate()
  }
}
