/**
 * Room: the log as an event store of Emmett, and what reacts to its events. It imports only events, basics,
 * log/contract and log/read.
 */

import {
  assertExpectedVersionMatchesCurrent,
  type AggregateStreamOptions,
  type AggregateStreamResult,
  type AppendToStreamOptions,
  type AppendToStreamResultWithGlobalPosition,
  type Event,
  type EventStore,
  type ReadStreamOptions,
  type ReadStreamResult,
  type StreamExistsResult,
} from '@event-driven-io/emmett'
import type { Log, Origin } from '../contract/log.js'
import { recordedStream, type LogMetadata, type RecordedEvent } from './recorded-event.js'
import { toAppend } from './to-append.js'

const noVersion = 0n

/** emmett's `EventStore` over a log. The result of an append also has the position of its last event in the whole log. */
export interface LogEventStore extends EventStore<LogMetadata> {
  appendToStream<E extends Event, P extends Event = E>(
    streamName: string,
    events: E[],
    options?: AppendToStreamOptions<bigint, E, P>,
  ): Promise<AppendToStreamResultWithGlobalPosition>
}

/**
 * The log as emmett's `EventStore`. Versions count from 1; a stream that does not exist has version 0. Reading begins after version
 * `from` and ends with version `to`. Every stream can be read. Events can only be appended to your own streams, with names like
 * `invoice-7`, and must have your own types: only commands write the service's own events.
 *
 * @example await eventStore(log, origin).appendToStream('invoice-7', [event], { expectedStreamVersion: 1n })
 * @throws ExpectedVersionConflictError when the stream has another version; Problem when an event cannot be kept, and 503 or 507
 * when the log cannot take it now
 */
export const eventStore = (log: Log, origin: Origin): LogEventStore => {
  /** The version of a stream, and the requested events. No event is newer than that version. */
  const open = async <E extends Event, P extends Event>(stream: string, options: ReadStreamOptions<bigint, E, P> = {}) => {
    const { from = noVersion, to, maxCount, expectedStreamVersion, schema } = options
    const version = BigInt(await log.streamVersion(stream))
    assertExpectedVersionMatchesCurrent(version, expectedStreamVersion, noVersion)
    const after = from < noVersion ? noVersion : from
    const ends = [version, ...(to === undefined ? [] : [to]), ...(maxCount === undefined ? [] : [after + maxCount])]
    const until = ends.reduce((least, end) => (end < least ? end : least))
    const upcast = schema?.versioning?.upcast
    const current = (event: RecordedEvent<E>) => (upcast ? { ...event, ...upcast(event as unknown as P) } : event)
    return { version, events: recordedStream<E>(log, stream, Number(after), Number(until)), current }
  }

  return {
    async readStream<E extends Event, P extends Event = E>(
      streamName: string,
      options?: ReadStreamOptions<bigint, E, P>,
    ): Promise<ReadStreamResult<E, LogMetadata>> {
      const { version, events: recorded, current } = await open(streamName, options)
      const events: RecordedEvent<E>[] = []
      for await (const event of recorded) events.push(current(event))
      return { events, currentStreamVersion: version, streamExists: version > noVersion }
    },

    async aggregateStream<State, E extends Event, P extends Event = E>(
      streamName: string,
      { evolve, initialState, read }: AggregateStreamOptions<State, E, LogMetadata, P>,
    ): Promise<AggregateStreamResult<State>> {
      const { version, events, current } = await open(streamName, read)
      const fold = evolve as (state: State, event: RecordedEvent<E>) => State
      let state = initialState()
      for await (const event of events) state = fold(state, current(event))
      return { state, currentStreamVersion: version, streamExists: version > noVersion }
    },

    async appendToStream<E extends Event, P extends Event = E>(
      streamName: string,
      events: E[],
      options?: AppendToStreamOptions<bigint, E, P>,
    ): Promise<AppendToStreamResultWithGlobalPosition> {
      const downcast = options?.schema?.versioning?.downcast
      const stored = await toAppend(streamName, downcast ? events.map(downcast) : events)
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
      return {
        nextExpectedStreamVersion: current + BigInt(stored.length),
        createdNewStream: current === noVersion && stored.length > 0,
        lastEventGlobalPosition: BigInt(positions.at(-1) ?? 0),
      }
    },

    async streamExists(streamName: string): Promise<StreamExistsResult> {
      return (await log.streamVersion(streamName)) > 0
    },
  }
}
