import { describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { genesis, nextChain } from '../../../events/stored/chain.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { Problem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import type { Log, NewEvent, Submission } from '../../../src/log/contract/log.js'
import { eachLog } from '../../support/log/each-log.js'
import { origin, patiently, projectCreated, refusal, stream, writes } from '../../support/log/log.js'

const skillCreated = (n: number, name: string, params: object = {}): NewEvent => ({
  stream: stream(n),
  event: { type: 'SkillCreated', data: { project: stream(1), name, type: 'sql', params: params as never } },
})
const envelopes = async (log: Log) => (await log.readAll(0, 100_000)).map(({ text }) => parseEnvelope(text))
const refuses = (error: unknown): Submission => ({
  origin,
  lookups: {},
  decide: () => {
    throw error
  },
  payloads: [],
})
/** How many transactions were committed, counted by another connection. */
const dataVersion = (file: string) => {
  const db = new Database(file, { readonly: true })
  return { changed: () => db.pragma('data_version', { simple: true }) as number, close: () => db.close() }
}

const skillRenamed = (): NewEvent => ({ stream: stream(5), event: { type: 'SkillRenamed', data: { name: 'n' } } })

eachLog(({ withLog }) => {
  describe('group commit', () => {
    test('commands that wait together share a transaction, and their positions follow their order', () =>
      withLog(async ({ log, file }) => {
        const watch = dataVersion(file)
        watch.changed()
        const commits: number[] = []
        log.onCommitted((position) => commits.push(position))
        const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => log.submit(writes(projectCreated(i + 1)))))
        expect(commits).toEqual([50])
        expect(outcomes.map(({ positions }) => positions)).toEqual(Array.from({ length: 50 }, (_, i) => [i + 1]))
        expect((await envelopes(log)).map((e) => [e.position, e.stream])).toEqual(outcomes.map((_, i) => [i + 1, stream(i + 1)]))
        watch.close()
      }))

    test('who listens hears which streams each commit wrote to, and of what kind', () =>
      withLog(async ({ log }) => {
        const heard: [number, [string, string][]][] = []
        log.onCommitted((position, changed) => heard.push([position, [...changed]]))
        const skill = { type: 'SkillCreated' as const, data: { project: stream(1), name: 's', type: 'sql', params: {} } }
        await Promise.all([log.submit(writes(projectCreated(1))), log.submit(writes({ stream: stream(2), event: skill }))])
        await log.submit(writes({ stream: stream(2), event: { type: 'SkillDeleted', data: {} } }))
        expect(heard).toEqual([
          [
            2,
            [
              [stream(1), 'project'],
              [stream(2), 'skill'],
            ],
          ],
          [3, [[stream(2), 'skill']]],
        ])
      }))

    test('a submission made when its turn comes holds what arrived until then, and its own fault is its own', () =>
      withLog(async ({ log }) => {
        const names: string[] = []
        const later = log.submitLater(() => writes(...names.map((name, i) => projectCreated(i + 1, name))))
        const broken = refusal(
          log.submitLater(() => {
            throw new Problem('too_large', 'Too large', 'too large')
          }),
        )
        names.push('a')
        const before = log.submit(writes(projectCreated(9)))
        names.push('b')
        expect((await later).positions).toEqual([1, 2])
        expect(await broken).toBe('too_large')
        expect((await before).positions).toEqual([3])
      }))

    test('more commands than a batch holds take as many transactions as they need', () =>
      withLog(async ({ log }) => {
        const commits: number[] = []
        log.onCommitted((position) => commits.push(position))
        const many = limits.batchMaxCommands + 1
        await Promise.all(Array.from({ length: many }, (_, i) => log.submit(writes(projectCreated(i + 1)))))
        expect(commits).toEqual([limits.batchMaxCommands, many])
      }))

    test('a refusal rejects one command: what it had written is undone, its neighbours are whole', () =>
      withLog(async ({ log }) => {
        const half: Submission = writes(projectCreated(2), { stream: stream(3), event: { type: 'ProjectCreated', data: { name: '' } } })
        const settled = await Promise.allSettled([
          log.submit(writes(projectCreated(1))),
          log.submit(half),
          log.submit(refuses(new Problem('not_found', 'No', 'no'))),
          log.submit(writes(projectCreated(4))),
        ])
        expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
        expect((await envelopes(log)).map((e) => [e.position, e.stream])).toEqual([
          [1, stream(1)],
          [2, stream(4)],
        ])
        expect((await log.resources.list('project')).map(({ id }) => id)).toEqual([1, 2])
      }))

    test('a fault of a decision, of whatever kind, is its own command’s alone', () =>
      withLog(async ({ log }) => {
        const faults: unknown[] = [new TypeError('a fault'), new RangeError(), 'a text', undefined, null, { code: 7 }]
        const settled = await Promise.allSettled([
          ...faults.map((fault) => log.submit(refuses(fault))),
          log.submit({ ...writes(), decide: (() => undefined) as never }),
          log.submit({ ...writes(), decide: (async () => [projectCreated(9)]) as never }),
          log.submit({ ...writes(), decide: () => [{ stream: stream(1), event: { type: 'Unheard', data: {} } as never }] }),
          log.submit(writes(projectCreated(1))),
        ])
        expect(settled.map(({ status }) => status)).toEqual([...Array<string>(faults.length + 3).fill('rejected'), 'fulfilled'])
        expect(settled.slice(0, faults.length).map((one) => (one as PromiseRejectedResult).reason as unknown)).toEqual(faults)
        expect((await log.head()).position).toBe(1)
      }))

    test('a taken name or a stream of another kind is refused, and costs the batch nothing', () =>
      withLog(async ({ log }) => {
        const [first, second, third, fourth] = await Promise.allSettled([
          log.submit(writes(projectCreated(1, 'shop'))),
          log.submit(writes(projectCreated(2, 'SHOP'))),
          log.submit(writes(skillCreated(1, 'x'))),
          log.submit(writes(projectCreated(3, 'office'))),
        ])
        expect(first.status).toBe('fulfilled')
        expect(second).toMatchObject({ reason: { code: 'already_exists' } })
        expect(third).toMatchObject({ reason: { code: 'wrong_arguments' } })
        expect(fourth).toMatchObject({ value: { positions: [2] } })
      }))

    test('an event that could not be read back is refused: an empty or quoted stream, ill-formed text beside the data', () =>
      withLog(async ({ log }) => {
        const { event } = projectCreated(1)
        expect(await refusal(log.submit(writes({ stream: '', event })))).toBe('wrong_arguments')
        expect(await refusal(log.submit(writes({ stream: 'x\ud800', event })))).toBe('wrong_arguments')
        for (const stream of ['say "x"', 'a\\b', 'a\nb'])
          expect(await refusal(log.submit(writes({ stream, event })))).toBe('wrong_arguments')
        for (const place of ['actor', 'request', 'correlation', 'causation'])
          expect(await refusal(log.submit({ ...writes(projectCreated(1)), origin: { ...origin, [place]: 'x\0' } }))).toBe('wrong_arguments')
        expect((await log.head()).position).toBe(0)
      }))

    test('a command without events succeeds and writes nothing', () =>
      withLog(async ({ log }) => {
        expect(await log.submit(writes())).toEqual({ positions: [], stream: null, resource: null, repeated: false })
        expect((await log.head()).position).toBe(0)
      }))

    test('an event beyond its limit is refused with all of its command', () =>
      withLog(async ({ log }) => {
        const big = { text: 'x'.repeat(limits.eventMaxBytes) }
        const [ok, tooLarge] = await Promise.allSettled([
          log.submit(writes(projectCreated(1))),
          log.submit(writes(skillCreated(2, 'small'), skillCreated(3, 'big', big))),
        ])
        expect(ok.status).toBe('fulfilled')
        expect(tooLarge).toMatchObject({ reason: { code: 'too_large' } })
        expect((await log.head()).position).toBe(1)
        await log.submit(writes(skillCreated(4, 'next')))
        expect((await log.head()).position).toBe(2)
      }))

    test('beyond its limit the queue answers busy at once, with a time to wait', () =>
      withLog(async ({ log }) => {
        const waiting = Array.from({ length: limits.queueMaxCommands }, () => log.submit(writes()))
        await expect(log.submit(writes())).rejects.toMatchObject({ code: 'busy', status: 503, extras: { retryAfterSeconds: 1 } })
        await Promise.all(waiting)
        await log.submit(writes())
      }))

    test('the chain follows from the stored texts', () =>
      withLog(async ({ log }) => {
        for (let i = 1; i <= 5; i++) await log.submit(writes(projectCreated(i)))
        const chain = (await log.readAll(0, 10)).reduce((previous, { text }) => nextChain(previous, text), genesis(log.id))
        expect(await log.head()).toEqual({ logId: log.id, position: 5, chain: chain.toString('hex') })
      }))
  })

  describe('names under concurrency', () => {
    const cased = (word: string, bits: number) =>
      Array.from(word)
        .map((letter, i) => ((bits >> i) & 1 ? letter.toUpperCase() : letter))
        .join('')

    test('of a hundred creations of one name in mixed case exactly one succeeds', () =>
      withLog(async ({ log, ledger }) => {
        await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
        const settled = await Promise.allSettled(
          Array.from({ length: 100 }, (_, i) =>
            ledger.execute(
              // The project, too, is named in every way it can be.
              {
                type: 'CreateSkill',
                data: { project: i % 3 ? cased('shop', i) : '1', skill: cased('turnover', i), type: 'sql', params: {} },
              },
              origin,
            ),
          ),
        )
        expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'already_exists' })
        expect(await log.resources.list('skill')).toHaveLength(1)
        expect((await log.head()).position).toBe(2)
      }))

    test('a project is not deleted beside a creation in it: whichever comes first wins', () =>
      withLog(async ({ log, ledger }) => {
        await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
        const [created, deleted] = await Promise.allSettled([
          ledger.execute({ type: 'CreateSkill', data: { project: 'shop', skill: 's', type: 'sql', params: {} } }, origin),
          ledger.execute({ type: 'DeleteProject', data: { project: '1', defaultProject: 'mindsdb' } }, origin),
        ])
        expect(created.status).toBe('fulfilled')
        expect(deleted).toMatchObject({ reason: { code: 'not_empty' } })
        expect(await log.resources.list('project')).toHaveLength(1)
      }))
  })

  describe('idempotency keys', () => {
    test('keep no rows that were erased while the answer was on its way, and all else', () =>
      withLog(async ({ log }) => {
        const keyed = (key: string) => ({ origin, idempotency: { key, fingerprint: 'f' } })
        const reply = { status: 200, type: 'application/json', etag: null, body: '[["a row"]]' }
        const before = await log.erasedAt()
        const data = { what: 'before' as const, subject: '2026-01-01', reason: null, payloads: [], blobs: [] }
        await log.submit(writes({ stream: logStream, event: { type: 'DataErased', data } }))
        const late = await log.keepReply(keyed('late'), { ...reply, rows: true }, before)
        expect(late).toMatchObject({ status: 410, body: expect.not.stringContaining('a row') })
        expect(await patiently(() => log.replyTo(keyed('late')))).toEqual(late)
        expect(await log.keepReply(keyed('none'), reply, before)).toEqual(reply)
        const rows = { ...reply, rows: true as const }
        expect(await log.keepReply(keyed('after'), rows, await log.erasedAt())).toEqual(rows)
      }))

    const create = (name: string) => ({ type: 'CreateProject' as const, data: { project: name } })
    const withKey = (key: string, request = 'f') => ({ idempotency: { key, request } })

    test('the same command again gets the same answer, and nothing new happens', () =>
      withLog(async ({ log, ledger }) => {
        const first = await ledger.execute(create('shop'), origin, withKey('k'))
        const again = await patiently(() => ledger.execute(create('shop'), origin, withKey('k')))
        expect(again).toEqual({ ...first, repeated: true })
        expect((await log.head()).position).toBe(1)
      }))

    test('also when both wait in one batch, and after the log was opened anew', () =>
      withLog(async ({ log, ledger, vault, reopen }) => {
        const execute = () => patiently(() => ledger.execute(create('shop'), origin, withKey('k')))
        const [first, second] = await Promise.all([execute(), execute()])
        expect([first.repeated, second.repeated]).toEqual([false, true])
        await log.close()
        const again = await reopen()
        const idempotency = { key: 'k', fingerprint: vault.fingerprint('f') }
        const third = await patiently(() => again.submit({ ...writes(projectCreated(7)), idempotency }))
        expect(third).toEqual(second)
        await again.close()
      }))

    test('the same key with another request is refused', () =>
      withLog(async ({ ledger }) => {
        await ledger.execute(create('shop'), origin, withKey('k'))
        expect(await refusal(ledger.execute(create('office'), origin, withKey('k', 'g')))).toBe('idempotency_mismatch')
      }))

    test('a key belongs to its actor', () =>
      withLog(async ({ log, ledger }) => {
        await ledger.execute(create('shop'), origin, withKey('k'))
        await ledger.execute(create('office'), { ...origin, actor: 'another' }, withKey('k', 'g'))
        expect((await log.head()).position).toBe(2)
      }))

    test('a refused command leaves its key free', () =>
      withLog(async ({ ledger }) => {
        const skill = { type: 'CreateSkill' as const, data: { project: 'shop', skill: 's', type: 'sql', params: {} } }
        expect(await refusal(ledger.execute(skill, origin, withKey('k')))).toBe('not_found')
        await ledger.execute(create('shop'), origin)
        expect((await ledger.execute(skill, origin, withKey('k'))).repeated).toBe(false)
      }))
  })

  describe('payloads', () => {
    test('payloads that no event names are not kept', () =>
      withLog(async ({ log, vault }) => {
        const sealed = vault.seal(Buffer.from('x'))
        await log.submit({ ...writes(projectCreated(1)), payloads: [sealed] })
        expect(await log.payload(sealed.hash)).toBeUndefined()
        const named = skillCreated(2, 's', { api_key: { $secret: sealed.hash } })
        await log.submit({ ...writes(named), payloads: [sealed] })
        expect((await log.payload(sealed.hash))?.toString()).toBe('x')
      }))
  })

  describe('listeners and closing', () => {
    test('a listener that throws stops neither the log nor the other listeners', () =>
      withLog(async ({ log }) => {
        const heard: number[] = []
        log.onCommitted(() => {
          throw new Error('a fault of a listener')
        })
        const end = log.onCommitted((position) => heard.push(position))
        const many = limits.batchMaxCommands + 1
        await Promise.all(Array.from({ length: many }, () => log.submit(writes(skillRenamed()))))
        end()
        await log.submit(writes(skillRenamed()))
        expect(heard).toEqual([limits.batchMaxCommands, many])
      }))

    test('a listener may close the log', () =>
      withLog(async ({ log }) => {
        log.onCommitted(() => void log.close())
        await log.submit(writes(projectCreated(1)))
        expect(await refusal(log.submit(writes()))).toBe('busy')
      }))
  })
})
