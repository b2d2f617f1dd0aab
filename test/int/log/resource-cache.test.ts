import { describe, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { join } from 'node:path'
import type { JsonObject } from '../../../events/common.js'
import type { Log, NewEvent } from '../../../src/log/contract/log.js'
import { byName } from '../../../src/log/contract/lookups.js'
import type { EventRow } from '../../../src/log/shared/postgres/rows.js'
import { LogWriter } from '../../../src/log/sqlite/log-writer.js'
import { ResourceCache } from '../../../src/log/storage/resource-cache.js'
import { openForWriting } from '../../../src/log/storage/schema.js'
import { origin, projectCreated, refusal, stream, withLog, writes } from '../../support/log/log.js'

const agent = (n: number, name: string): NewEvent => ({
  stream: stream(n),
  event: { type: 'AgentCreated', data: { project: stream(1), name, model_name: null, provider: null, skills: [], params: {} } },
})
const renamed = (n: number, name: string): NewEvent => ({ stream: stream(n), event: { type: 'AgentRenamed', data: { name } } })
const deleted = (n: number): NewEvent => ({ stream: stream(n), event: { type: 'AgentDeleted', data: {} } })

const agentNamed = async (log: Log, name: string) => {
  const project = await log.resources.one('project', 'project 1')
  const found = await log.resources.one('agent', name, project)
  return found && { stream: found.stream, version: found.version, name: found.state.name }
}

describe('resources are kept in memory as the table holds them', () => {
  const withAgent = (work: (log: Log) => Promise<void>) =>
    withLog(async ({ log }) => {
      await log.submit(writes(projectCreated(1)))
      await log.submit(writes(agent(2, 'faq')))
      await work(log)
    })

  test('a name that was changed is found by its new one alone, and the old one is free', () =>
    withAgent(async (log) => {
      expect(await agentNamed(log, 'FAQ')).toEqual({ stream: stream(2), version: 1, name: 'faq' })
      await log.submit(writes(renamed(2, 'help')))
      expect(await agentNamed(log, 'faq')).toBeUndefined()
      expect(await agentNamed(log, 'help')).toEqual({ stream: stream(2), version: 2, name: 'help' })
      await log.submit(writes(agent(3, 'faq')))
      expect(await agentNamed(log, 'faq')).toMatchObject({ stream: stream(3) })
    }))

  test('a state is the one of the table, in which a -0 is a 0', () =>
    withAgent(async (log) => {
      const params: JsonObject = { zero: -0, list: [{ zero: -0 }] }
      await log.submit(writes({ stream: stream(2), event: { type: 'AgentUpdated', data: { params } } }))
      const found = await log.resources.one('agent', 'faq', await log.resources.one('project', 'project 1'))
      expect(found?.state.params).toStrictEqual({ zero: 0, list: [{ zero: 0 }] })
    }))

  test('a created resource is found at once, in its own transaction too, although its name was free when somebody asked', () =>
    withAgent(async (log) => {
      expect(await agentNamed(log, 'help')).toBeUndefined()
      const outcomes = await Promise.allSettled([log.submit(writes(agent(3, 'help'))), log.submit(writes(agent(4, 'Help')))])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      expect(await agentNamed(log, 'HELP')).toEqual({ stream: stream(3), version: 1, name: 'help' })
    }))

  test('a stream that begins with an event goes on with the next one of the same command', () =>
    withAgent(async (log) => {
      await log.submit(writes({ ...agent(3, 'help'), begins: true }, renamed(3, 'more')))
      expect(await agentNamed(log, 'more')).toEqual({ stream: stream(3), version: 2, name: 'more' })
    }))

  test('no second beginning of a stream is stored, and the log goes on after it', () =>
    withAgent(async (log) => {
      expect(await refusal(log.submit(writes({ ...agent(2, 'help'), begins: true })))).toBe('storage_failed')
      expect(await agentNamed(log, 'faq')).toEqual({ stream: stream(2), version: 1, name: 'faq' })
      await log.submit(writes(renamed(2, 'help')))
      expect(await log.streamVersion(stream(2))).toBe(2)
    }))

  test('a deleted resource is gone, and its name can be taken again', () =>
    withAgent(async (log) => {
      await log.submit(writes(deleted(2)))
      expect(await agentNamed(log, 'faq')).toBeUndefined()
      await log.submit(writes(agent(3, 'faq')))
      expect(await agentNamed(log, 'faq')).toMatchObject({ stream: stream(3), version: 1 })
    }))

  test('nothing stays of a dry run', () =>
    withAgent(async (log) => {
      const planned = await log.submit({ ...writes(renamed(2, 'help'), agent(3, 'more')), dryRun: true })
      expect(planned.planned).toHaveLength(2)
      expect(await agentNamed(log, 'help')).toBeUndefined()
      expect(await agentNamed(log, 'more')).toBeUndefined()
      expect(await agentNamed(log, 'faq')).toEqual({ stream: stream(2), version: 1, name: 'faq' })
    }))

  test('nothing stays of a command whose last event was refused, and its neighbours in the transaction stay', () =>
    withAgent(async (log) => {
      const outcomes = await Promise.allSettled([
        log.submit(writes(agent(3, 'before'))),
        log.submit(writes(renamed(2, 'help'), agent(4, 'before'))),
        log.submit(writes(renamed(3, 'after'))),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await agentNamed(log, 'help')).toBeUndefined()
      expect(await agentNamed(log, 'faq')).toEqual({ stream: stream(2), version: 1, name: 'faq' })
      expect(await agentNamed(log, 'after')).toEqual({ stream: stream(3), version: 2, name: 'after' })
    }))

  test('a later command of the same transaction sees what an earlier one left, not what a refused one tried', () =>
    withAgent(async (log) => {
      const seen: unknown[] = []
      const look = () =>
        log.submit({
          origin,
          lookups: { faq: byName('agent', 'faq', 'project 1'), help: byName('agent', 'help', 'project 1') },
          decide: ({ faq, help }) => {
            seen.push([faq, help].map((found) => (found as { version: number } | undefined)?.version))
            return []
          },
          payloads: [],
        })
      const refused = log.submit(writes(renamed(2, 'help'), agent(4, 'help')))
      const outcomes = await Promise.allSettled([refused, look(), log.submit(writes(renamed(2, 'help'))), look()])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
      expect(seen).toEqual([
        [1, undefined],
        [undefined, 2],
      ])
    }))

  test('a refusal names the taken name, whatever was read before', () =>
    withAgent(async (log) => {
      await agentNamed(log, 'faq')
      expect(await refusal(log.submit(writes(agent(3, 'Faq'))))).toBe('already_exists')
    }))

  test('the agents of a skill are those that use it now', () =>
    withAgent(async (log) => {
      const uses = (n: number, ...skills: number[]): NewEvent => ({
        stream: stream(n),
        event: { type: 'AgentUpdated', data: { skills: skills.map((skill) => ({ skill: stream(skill), params: {} })) } },
      })
      /** The agents by what is kept in memory, which must be those that the table has. */
      const users = async () => {
        const ids = await log.resources.linkedIds('agent', stream(9))
        expect((await log.resources.linkedPage('agent', stream(9), 0, 10)).map(({ id }) => id)).toEqual(ids)
        return ids
      }
      expect(await users()).toEqual([])
      await log.submit(writes(agent(3, 'more'), agent(4, 'most')))
      await log.submit(writes(uses(3, 9)))
      expect(await users()).toEqual([3])
      await log.submit({ ...writes(uses(3), agent(5, 'less'), uses(5, 9)), dryRun: true })
      expect(await users()).toEqual([3])
      // The one that was created first comes first, whenever it was linked.
      await log.submit(writes(uses(4, 8, 9), uses(2, 9), renamed(2, 'help')))
      expect(await users()).toEqual([2, 3, 4])
      await log.submit(writes(uses(4, 9, 7), deleted(2)))
      expect(await users()).toEqual([3, 4])
      await expect(log.submit(writes(uses(4), renamed(3, 'most')))).rejects.toThrow()
      expect(await users()).toEqual([3, 4])
      await log.submit(writes(uses(3, 8)))
      expect(await users()).toEqual([4])
    }))
})

test('events that another node decided leave nothing in memory for an undo, however many a node follows', () =>
  withLog(async ({ log, vault, file, directory }) => {
    await log.submit(writes(projectCreated(1), agent(2, 'faq')))
    await log.submit(writes(...Array.from({ length: 20 }, (_, n) => renamed(2, `faq ${n}`))))
    const source = new Database(file, { readonly: true })
    const events = source.prepare<[], EventRow>('SELECT position, text, chain FROM events ORDER BY position').all()
    source.close()
    const db = openForWriting(join(directory, 'follower.sqlite'), () => log.id)
    const dropped = jest.spyOn(ResourceCache.prototype, 'drop')
    try {
      const writer = new LogWriter(db, vault)
      writer.begin()
      for (const event of events) writer.add(event)
      writer.commit()
      writer.resources.undo()
      expect(dropped.mock.calls).toEqual([[stream(2)]])
      expect(writer.resources.byStream('agent', stream(2))?.state.name).toBe('faq 19')
    } finally {
      dropped.mockRestore()
      db.close()
    }
  }))
