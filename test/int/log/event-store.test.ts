import {
  CommandHandler,
  isExpectedVersionConflictError,
  NO_CONCURRENCY_CHECK,
  STREAM_DOES_NOT_EXIST,
  STREAM_EXISTS,
  type Event,
  type ExpectedStreamVersion,
} from '@event-driven-io/emmett'
import { describe, expect, test } from '@jest/globals'
import { genesis, nextChain } from '../../../events/stored/chain.js'
import { skillKind, type Skill, type SkillEvent } from '../../../events/skill.js'
import { limits } from '../../../src/basics/limits.js'
import { eventStore } from '../../../src/log/emmett/event-store.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { eachLog } from '../../support/log/each-log.js'
import { origin, refusal, stream, tamperWith, withLog, writes } from '../../support/log/log.js'

type InvoiceEvent = Event<'InvoiceIssued', { amount: number }> | Event<'InvoiceRaised', { by: number }>
const issued: InvoiceEvent = { type: 'InvoiceIssued', data: { amount: 10 } }
const raised = (by: number): InvoiceEvent => ({ type: 'InvoiceRaised', data: { by } })
const invoice = 'invoice-7'
const evolve = (amount: number, { type, data }: InvoiceEvent): number => (type === 'InvoiceIssued' ? data.amount : amount + data.by)
const initialState = () => 0

const conflicts = async (promise: Promise<unknown>): Promise<boolean> => promise.then(() => false, isExpectedVersionConflictError)

eachLog(({ withLog }) =>
  describe("emmett's EventStore over the log", () => {
    test('appends and reads back, with versions from 1 and positions of the whole log', () =>
      withLog(async ({ log, ledger }) => {
        const store = eventStore(log, { ...origin, actor: 'billing', request: 'r-1' })
        await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
        const result = await store.appendToStream(invoice, [issued, raised(1)])
        expect(result).toEqual({ nextExpectedStreamVersion: 2n, createdNewStream: true, lastEventGlobalPosition: 3n })
        expect(await store.appendToStream(invoice, [raised(2)])).toEqual({
          ...{ nextExpectedStreamVersion: 3n, createdNewStream: false, lastEventGlobalPosition: 4n },
        })
        const { events, currentStreamVersion, streamExists } = await store.readStream<InvoiceEvent>(invoice)
        expect([currentStreamVersion, streamExists, await store.streamExists(invoice)]).toEqual([3n, true, true])
        expect(events.map(({ type, data }) => ({ type, data }))).toEqual([issued, raised(1), raised(2)])
        const by = {
          actor: 'billing',
          request: 'r-1',
          correlation: null,
          causation: null,
          recordedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        }
        expect(events.map(({ kind, metadata }) => ({ kind, ...metadata }))).toEqual(
          [2, 3, 4].map((position, i) => ({
            ...{ kind: 'Event', messageId: `${log.id}/${position}`, streamName: invoice, ...by },
            ...{ streamPosition: BigInt(i + 1), globalPosition: BigInt(position) },
          })),
        )
      }))

    test('expected versions hold, in all their forms', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        const append = (expectedStreamVersion: ExpectedStreamVersion, event = raised(1)) =>
          store.appendToStream(invoice, [event], { expectedStreamVersion })
        for (const expected of [STREAM_EXISTS, 1n]) expect(await conflicts(append(expected))).toBe(true)
        await append(STREAM_DOES_NOT_EXIST, issued)
        for (const expected of [STREAM_DOES_NOT_EXIST, 0n, 2n]) expect(await conflicts(append(expected))).toBe(true)
        await append(1n)
        await append(STREAM_EXISTS)
        await append(NO_CONCURRENCY_CHECK)
        expect((await log.head()).position).toBe(4)
        expect(await conflicts(store.appendToStream(invoice, [], { expectedStreamVersion: 9n }))).toBe(true)
        expect(await store.appendToStream(invoice, [])).toMatchObject({ nextExpectedStreamVersion: 4n, createdNewStream: false })
      }))

    test('of two appends that expect the same version one is refused, in the same batch too', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        await store.appendToStream(invoice, [issued])
        const both = [raised(1), raised(2)].map((event) => conflicts(store.appendToStream(invoice, [event], { expectedStreamVersion: 1n })))
        expect(await Promise.all(both)).toEqual([false, true])
      }))

    test('a part of a stream is read with the version of the whole', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        await store.appendToStream(invoice, [issued, raised(1), raised(2), raised(3)])
        const versions = async (options: Parameters<typeof store.readStream>[1]) => {
          const { events, currentStreamVersion } = await store.readStream(invoice, options)
          expect(currentStreamVersion).toBe(4n)
          return events.map(({ metadata }) => Number(metadata.streamPosition))
        }
        expect(await versions({})).toEqual([1, 2, 3, 4])
        expect(await versions({ maxCount: 2n })).toEqual([1, 2])
        expect(await versions({ from: 1n, maxCount: 2n })).toEqual([2, 3])
        expect(await versions({ from: 1n, to: 3n })).toEqual([2, 3])
        expect(await versions({ from: 1n, to: 3n, maxCount: 1n })).toEqual([2])
        expect(await versions({ from: 9n })).toEqual([])
        expect(await versions({ from: -1n })).toEqual([1, 2, 3, 4])
        expect(await versions({ from: 3n, to: 2n })).toEqual([])
        expect(await versions({ maxCount: 1n, expectedStreamVersion: 4n })).toEqual([1])
        expect(await conflicts(store.readStream(invoice, { maxCount: 1n, expectedStreamVersion: 1n }))).toBe(true)
      }))

    test('a stream that is not there has version 0 and does not exist, wherever it is read from', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        for (const options of [{}, { from: 5n }])
          expect(await store.readStream(invoice, options)).toEqual({ events: [], currentStreamVersion: 0n, streamExists: false })
        expect(await store.streamExists(invoice)).toBe(false)
        expect(await conflicts(store.readStream(invoice, { expectedStreamVersion: STREAM_EXISTS }))).toBe(true)
      }))

    test('aggregateStream folds, its own streams and those of resources', () =>
      withLog(async ({ log, ledger }) => {
        const store = eventStore(log, origin)
        const fold = () => store.aggregateStream<number, InvoiceEvent>(invoice, { evolve, initialState })
        expect(await fold()).toEqual({ state: 0, currentStreamVersion: 0n, streamExists: false })
        await store.appendToStream(invoice, [issued, raised(5)])
        expect(await fold()).toEqual({ state: 15, currentStreamVersion: 2n, streamExists: true })
        await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
        const { resource } = await ledger.execute(
          { type: 'CreateSkill', data: { project: 'shop', skill: 's', type: 'sql', params: {} } },
          origin,
        )
        const ofSkill = { evolve: skillKind.evolve, initialState: () => undefined }
        const { state } = await store.aggregateStream<Skill | undefined, SkillEvent>(resource?.stream ?? '', ofSkill)
        expect(state).toEqual(resource?.state)
      }))

    test('what is appended while a stream is read is in no answer half', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        const count = limits.eventSliceMaxEvents + 10
        await store.appendToStream(
          invoice,
          Array.from({ length: count }, () => raised(1)),
        )
        const reading = store.aggregateStream<number, InvoiceEvent>(invoice, { evolve, initialState })
        await store.appendToStream(invoice, [raised(1)])
        expect(await reading).toEqual({ state: count, currentStreamVersion: BigInt(count), streamExists: true })
      }))

    test('older shapes of an event are brought up to date on the way out, and back on the way in', () =>
      withLog(async ({ log }) => {
        type Old = Event<'InvoiceIssued', { cents: number }>
        const store = eventStore(log, origin)
        const downcast = ({ type, data }: InvoiceEvent): Old => ({
          type: type as 'InvoiceIssued',
          data: { cents: 'amount' in data ? data.amount * 100 : 0 },
        })
        await store.appendToStream<InvoiceEvent, Old>(invoice, [issued], { schema: { versioning: { downcast } } })
        expect((await store.readStream<Old>(invoice)).events[0]?.data).toEqual({ cents: 1000 })
        const upcast = ({ data }: Old): InvoiceEvent => ({ type: 'InvoiceIssued', data: { amount: data.cents / 100 } })
        const { events } = await store.readStream<InvoiceEvent, Old>(invoice, { schema: { versioning: { upcast } } })
        expect(events[0]).toMatchObject({ ...issued, metadata: { streamPosition: 1n } })
      }))

    test("emmett's CommandHandler works over it, also with fifty at once and retries", () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        const handle = CommandHandler<number, InvoiceEvent>({
          ...{ evolve, initialState },
          retry: { retries: 100, minTimeout: 1, factor: 1, shouldRetryError: isExpectedVersionConflictError },
        })
        await handle(store, invoice, () => issued)
        await Promise.all(Array.from({ length: 50 }, () => handle(store, invoice, (amount) => raised(amount > 0 ? 1 : 1_000))))
        expect(await store.aggregateStream<number, InvoiceEvent>(invoice, { evolve, initialState })).toMatchObject({ state: 60 })
      }))

    test('what a decision of emmett’s sees is what the log has: a conflict names both versions', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        await store.appendToStream(invoice, [issued])
        const late = store.appendToStream(invoice, [raised(1)], { expectedStreamVersion: 0n })
        await expect(late).rejects.toThrow('Expected version 0 does not match current 1')
      }))

    test('nobody writes the events of the service, or into its streams', () =>
      withLog(async ({ log, ledger }) => {
        const store = eventStore(log, origin)
        const { resource } = await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
        const project = resource?.stream ?? ''
        const before = await log.head()
        for (const [name, event] of [
          [project, { type: 'ProjectDeleted', data: {} }],
          [project, issued],
          [stream(5), issued],
          [`${project}/predictions`, issued],
          ['log', { type: 'DataErased', data: { what: 'request', subject: 'r', reason: null, payloads: [], blobs: [] } }],
          ['log', issued],
          [invoice, { type: 'ProjectCreated', data: { name: 'mine' } }],
          ['', issued],
        ] as const)
          expect(await refusal(store.appendToStream(name, [event]))).toBe('wrong_arguments')
        await expect(store.appendToStream(invoice, [{ type: 'DataErased', data: {} }])).rejects.toMatchObject({
          detail: 'DataErased is an event of the service: only its commands write one',
        })
        expect(await log.head()).toEqual(before)
        // The writer itself holds to it, whoever submits.
        const created = { type: 'ProjectCreated', data: { name: 'mine' } } as const
        expect(await refusal(log.submit(writes({ stream: invoice, event: created })))).toBe('wrong_arguments')
        for (const name of [project, 'order-1'])
          expect(await refusal(log.submit(writes({ stream: name, event: { type: 'invoice.InvoiceIssued', data: {} } })))).toBe(
            'wrong_arguments',
          )
        expect(await log.head()).toEqual(before)
      }))

    test('an event that JSON would change, that has metadata, or a type that is none, is refused with its place', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        const detail = async (event: Event) => {
          const problem = await store.appendToStream(invoice, [issued, event]).catch((error: unknown) => error)
          return problem instanceof Object && 'detail' in problem ? problem.detail : 'was not refused'
        }
        expect(await detail({ type: 'InvoiceIssued', data: { at: new Date() } })).toBe(
          'InvoiceIssued: data.at is not a plain object: write it as JSON values',
        )
        expect(await detail({ type: 'InvoiceIssued', data: { key: { $secret: 'a' } } })).toContain('data.key.$secret is not allowed')
        expect(await detail({ type: 'invoice.Issued', data: {} })).toContain(
          'must begin with a letter, and have only letters, digits and underscores',
        )
        expect(await detail({ ...issued, metadata: { user: 'ada' } } as unknown as Event)).toContain('metadata of your own cannot be kept')
        expect(await store.streamExists(invoice)).toBe(false)
      }))

    test('what is appended is what was given, whatever becomes of the object meanwhile', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        const data = { amount: 10 }
        const appending = store.appendToStream(invoice, [{ type: 'InvoiceIssued', data }])
        data.amount = 1_000
        await appending
        expect((await store.readStream<InvoiceEvent>(invoice)).events[0]?.data).toEqual({ amount: 10 })
      }))

    test('an append has bounds, and long values of many at once let others work in between', () =>
      withLog(async ({ log }) => {
        const store = eventStore(log, origin)
        const many = Array.from({ length: limits.appendMaxEvents + 1 }, () => issued)
        expect(await refusal(store.appendToStream(invoice, many))).toBe('too_large')
        const long = { type: 'InvoiceIssued', data: { text: 'x'.repeat(limits.appendMaxBytes / 4) } }
        expect(await refusal(store.appendToStream(invoice, [long, long, long, long]))).toBe('too_large')
        expect(await refusal(store.appendToStream(invoice, [{ type: 'A', data: { text: 'x'.repeat(limits.eventMaxBytes) } }]))).toBe(
          'too_large',
        )
        await store.appendToStream(invoice, many.slice(1))
        await store.appendToStream(invoice, [long, long, long])
        let turns = 0
        const ticking = setInterval(() => turns++)
        const { events } = await store.readStream(invoice)
        clearInterval(ticking)
        expect(events).toHaveLength(limits.appendMaxEvents + 3)
        expect(turns).toBeGreaterThan(3)
      }))
  }),
)

test('what an older release wrote comes back in today’s shape, under the same type', () =>
  withLog(async ({ log, file, vault }) => {
    const bot = { project: stream(1), name: 'b', agent: null, model_name: null, database: stream(3), params: {} }
    await log.submit(writes({ stream: stream(4), event: { type: 'ChatbotCreated', data: { ...bot, is_running: true } } }))
    await log.close()
    tamperWith(file, (db) => {
      db.exec(`UPDATE events SET text = json_set(json_remove(text, '$.data.is_running'), '$.schema', 1)`)
      const text = db.prepare('SELECT text FROM events').pluck().get() as string
      db.prepare('UPDATE events SET chain = ?').run(nextChain(genesis(log.id), text))
    })
    const again = new SqliteLog({ file, vault })
    const { events } = await eventStore(again, origin).readStream(stream(4))
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([{ type: 'ChatbotCreated', data: { ...bot, is_running: false } }])
    await again.close()
  }))
