import { CommandHandler, isExpectedVersionConflictError, STREAM_DOES_NOT_EXIST, STREAM_EXISTS } from '@event-driven-io/emmett'
import { describe, expect, test } from '@jest/globals'
import { skillKind, type Skill, type SkillEvent } from '../../../events/skill.js'
import { eventStore } from '../../../src/log/read/event-store.js'
import { origin, refusal, stream, tamperWith, withLog } from '../../support/log/log.js'
import { nextChain, genesis } from '../../../events/chain.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'

const created: SkillEvent = { type: 'SkillCreated', data: { project: stream(1), name: 's', type: 'sql', params: {} } }
const typed = (type: string): SkillEvent => ({ type: 'SkillUpdated', data: { type } })
const skill = stream(2)

const conflicts = async (promise: Promise<unknown>): Promise<boolean> => promise.then(() => false, isExpectedVersionConflictError)

describe("emmett's EventStore over the log", () => {
  test('appends and reads back, with versions from 1 and positions of the whole log', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      await store.appendToStream(stream(9), [{ type: 'ProjectCreated', data: { name: 'shop' } }])
      const result = await store.appendToStream(skill, [created, typed('kb')])
      expect(result).toEqual({ nextExpectedStreamVersion: 2n, createdNewStream: true, lastEventGlobalPosition: 3n })
      const { events, currentStreamVersion, streamExists } = await store.readStream<SkillEvent>(skill)
      expect([currentStreamVersion, streamExists]).toEqual([2n, true])
      expect(events.map(({ type, data }) => ({ type, data }))).toEqual([created, typed('kb')])
      expect(events.map(({ metadata }) => metadata)).toEqual([
        { messageId: `${log.id}/2`, streamName: skill, streamPosition: 1n, globalPosition: 2n },
        { messageId: `${log.id}/3`, streamName: skill, streamPosition: 2n, globalPosition: 3n },
      ])
    }))

  test('expected versions hold, STREAM_DOES_NOT_EXIST and STREAM_EXISTS among them', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      const append = (expectedStreamVersion: bigint | typeof STREAM_EXISTS) =>
        store.appendToStream(skill, [typed('a')], { expectedStreamVersion })
      expect(await conflicts(append(STREAM_EXISTS))).toBe(true)
      expect(await conflicts(append(1n))).toBe(true)
      await store.appendToStream(skill, [created], { expectedStreamVersion: STREAM_DOES_NOT_EXIST })
      expect(await conflicts(store.appendToStream(skill, [created], { expectedStreamVersion: STREAM_DOES_NOT_EXIST }))).toBe(true)
      expect(await conflicts(append(0n))).toBe(true)
      expect(await conflicts(append(2n))).toBe(true)
      await append(1n)
      await append(STREAM_EXISTS)
      expect((await log.head()).position).toBe(3)
    }))

  test('of two appends that expect the same version one is refused, in the same batch too', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      await store.appendToStream(skill, [created])
      const both = [typed('a'), typed('b')].map((event) => conflicts(store.appendToStream(skill, [event], { expectedStreamVersion: 1n })))
      expect(await Promise.all(both)).toEqual([false, true])
    }))

  test('a part of a stream is read with the version of the whole', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      await store.appendToStream(skill, [created, typed('a'), typed('b'), typed('c')])
      const versions = async (options: Parameters<typeof store.readStream>[1]) => {
        const { events, currentStreamVersion } = await store.readStream(skill, options)
        expect(currentStreamVersion).toBe(4n)
        return events.map(({ metadata }) => Number(metadata.streamPosition))
      }
      expect(await versions({})).toEqual([1, 2, 3, 4])
      expect(await versions({ maxCount: 2n })).toEqual([1, 2])
      expect(await versions({ from: 1n, maxCount: 2n })).toEqual([2, 3])
      expect(await versions({ from: 1n, to: 3n })).toEqual([2, 3])
      expect(await versions({ from: 9n })).toEqual([])
      expect(await versions({ maxCount: 1n, expectedStreamVersion: 4n })).toEqual([1])
      expect(await conflicts(store.readStream(skill, { maxCount: 1n, expectedStreamVersion: 1n }))).toBe(true)
    }))

  test('a stream that is not there has version 0 and does not exist, wherever it is read from', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      for (const options of [{}, { from: 5n }])
        expect(await store.readStream(skill, options)).toEqual({ events: [], currentStreamVersion: 0n, streamExists: false })
      expect(await store.streamExists(skill)).toBe(false)
      expect(await conflicts(store.readStream(skill, { expectedStreamVersion: STREAM_EXISTS }))).toBe(true)
    }))

  test('aggregateStream folds', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      const fold = () =>
        store.aggregateStream<Skill | undefined, SkillEvent>(skill, { evolve: skillKind.evolve, initialState: () => undefined })
      expect(await fold()).toEqual({ state: undefined, currentStreamVersion: 0n, streamExists: false })
      await store.appendToStream(skill, [created, typed('kb')])
      expect(await fold()).toEqual({ state: { ...created.data, type: 'kb' }, currentStreamVersion: 2n, streamExists: true })
    }))

  test("emmett's CommandHandler works over it, also with fifty at once and retries", () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      const handle = CommandHandler<Skill | undefined, SkillEvent>({
        evolve: skillKind.evolve,
        initialState: () => undefined,
        retry: { retries: 100, minTimeout: 1, factor: 1, shouldRetryError: isExpectedVersionConflictError },
      })
      await handle(store, skill, () => created)
      await Promise.all(
        Array.from({ length: 50 }, () =>
          handle(store, skill, (state) => ({ type: 'SkillUpdated', data: { params: { n: Number(state?.params['n'] ?? 0) + 1 } } })),
        ),
      )
      expect((await log.resources.byStream('skill', skill))?.state.params).toEqual({ n: 50 })
    }))

  test('an event that does not fit, or is not of the catalogue, is refused', () =>
    withLog(async ({ log }) => {
      const store = eventStore(log, origin)
      expect(await refusal(store.appendToStream(skill, [{ type: 'SkillCreated', data: { name: 's' } }]))).toBe('wrong_arguments')
      await expect(store.appendToStream(skill, [{ type: 'SkillLearned', data: {} }])).rejects.toThrow('unknown event type')
      expect(await refusal(store.appendToStream('', [created]))).toBe('wrong_arguments')
    }))

  test('what an older release wrote comes back in today’s shape, under the same type', () =>
    withLog(async ({ log, file, vault }) => {
      const bot = { project: stream(1), name: 'b', agent: null, model_name: null, database: stream(3), params: {} }
      await eventStore(log, origin).appendToStream(stream(4), [{ type: 'ChatbotCreated', data: { ...bot, is_running: true } }])
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
})
