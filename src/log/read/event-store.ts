import {
  assertExpectedVersionMatchesCurrent,
  type AggregateStreamOptions,
  type AggregateStreamResult,
  type AppendToStreamOptions,
  type AppendToStreamResultWithGlobalPosition,
  type Event,
  type EventStore,
  type ReadEvent,
  type ReadEventMetadataWithGlobalPosition,
  type ReadStreamOptions,
  type ReadStreamResult,
  type StreamExistsResult,
} from '@event-driven-io/emmett'
import type { LedgerEvent } from '../../../events/catalogue.js'
import { parseEnvelope } from '../../../events/envelope.js'
import { currentEvent } from '../contract/current-event.js'
import type { Log, Origin } from '../contract/log.js'
import { limits } from '../../basics/limits.js'

type Metadata = ReadEventMetadataWithGlobalPosition
const noVersion = 0n

/**
 * The log as emmett's `EventStore`, for code written against that contract. Versions count from 1; a stream that does
 * not exist has version 0. Events must be of the catalogue.
 *
 * @example await eventStore(log, origin).appendToStream(stream, [event], { expectedStreamVersion: 1n })
 * @throws ExpectedVersionConflictError when the stream has another version
 */
export const eventStore = (log: Log, origin: Origin): EventStore<Metadata> => {
  const readEvents = async <E extends Event>(stream: string, after: number, limit: number): Promise<ReadEvent<E, Metadata>[]> => {
    const stored = await log.readStream(stream, after, limit)
    return stored.map(({ text }) => {
      const envelope = parseEnvelope(text)
      const { version, position } = envelope
      const metadata = {
        messageId: `${log.id}/${position}`,
        streamName: stream,
        streamPosition: BigInt(version),
        globalPosition: BigInt(position),
      }
      return { ...currentEvent(envelope), kind: 'Event', metadata } as unknown as ReadEvent<E, Metadata>
    })
  }

  const readAll = async <E extends Event>(stream: string, from: number, limit: number): Promise<ReadEvent<E, Metadata>[]> => {
    const events: ReadEvent<E, Metadata>[] = []
    while (events.length < limit) {
      const wanted = Math.min(limits.followerBatchEvents, limit - events.length)
      const page = await readEvents<E>(stream, from + events.length, wanted)
      events.push(...page)
      if (page.length < wanted) break
    }
    return events
  }

  return {
    async readStream<E extends Event, P extends Event = E>(
      streamName: string,
      options?: ReadStreamOptions<bigint, E, P>,
    ): Promise<ReadStreamResult<E, Metadata>> {
      const from = Number(options?.from ?? 0n)
      const to = options?.to === undefined ? Number.MAX_SAFE_INTEGER : Number(options.to)
      const limit = Math.min(to - from, Number(options?.maxCount ?? Number.MAX_SAFE_INTEGER))
      const currentStreamVersion = BigInt(await log.streamVersion(streamName))
      assertExpectedVersionMatchesCurrent(currentStreamVersion, options?.expectedStreamVersion, noVersion)
      const events = await readAll<E>(streamName, from, limit)
      const upcast = options?.schema?.versioning?.upcast
      const current = upcast ? events.map((event) => ({ ...event, ...upcast(event as unknown as P) })) : events
      return { events: current, currentStreamVersion, streamExists: currentStreamVersion > noVersion }
    },

    async aggregateStream<State, E extends Event, P extends Event = E>(
      streamName: string,
      { evolve, initialState, read }: AggregateStreamOptions<State, E, Metadata, P>,
    ): Promise<AggregateStreamResult<State>> {
      const { events, currentStreamVersion, streamExists } = await this.readStream<E, P>(streamName, read)
      const fold = evolve as (state: State, event: ReadEvent<E, Metadata>) => State
      return { state: events.reduce(fold, initialState()), currentStreamVersion, streamExists }
    },

    async appendToStream<E extends Event, P extends Event = E>(
      streamName: string,
      events: E[],
      options?: AppendToStreamOptions<bigint, E, P>,
    ): Promise<AppendToStreamResultWithGlobalPosition> {
      const downcast = options?.schema?.versioning?.downcast
      const stored = events.map((event) => (downcast ? downcast(event) : event) as unknown as LedgerEvent)
      let current = noVersion
      const { positions } = await log.submit({
        origin,
        lookups: { version: { find: 'version', stream: streamName } },
        decide: ({ version }) => {
          current = BigInt(version as number)
          assertExpectedVersionMatchesCurrent(current, options?.expectedStreamVersion, noVersion)
          return stored.map((event) => ({ stream: streamName, event }))
        },
        payloads: [],
      })
      const nextExpectedStreamVersion = current + BigInt(events.length)
      return {
        nextExpectedStreamVersion,
        createdNewStream: current === noVersion && events.length > 0,
        lastEventGlobalPosition: BigInt(positions.at(-1) ?? 0),
      }
    },

    async streamExists(streamName: string): Promise<StreamExistsResult> {
      return (await log.streamVersion(streamName)) > 0
    },
  }
}
