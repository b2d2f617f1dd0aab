import { describe, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { statSync } from 'node:fs'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { Problem } from '../../../src/basics/errors.js'
import type { Log, NewEvent } from '../../../src/log/contract/log.js'
import { rebuildResources } from '../../../src/log/sqlite/rebuild.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { origin, projectCreated, refusal, stream, tamperWith, withLog, writes, type OpenLog } from '../../support/log/log.js'

const skillCreated = (n: number, name: string, params: object = {}): NewEvent => ({
  stream: stream(n),
  event: { type: 'SkillCreated', data: { project: stream(1), name, type: 'sql', params: params as never } },
})
const envelopes = async (log: Log) => (await log.readAll(0, 100_000)).map(({ text }) => parseEnvelope(text))
const skillRenamed = (): NewEvent => ({ stream: stream(5), event: { type: 'SkillRenamed', data: { name: 'n' } } })

describe('the file', () => {
  test('several commands wait one turn for those behind them; a single one is committed at once', () =>
    withLog(async ({ log }) => {
      const commits: number[] = []
      log.onCommitted((position) => commits.push(position))
      const inNextTurn = (n: number) =>
        new Promise((resolve) => {
          setImmediate(() => resolve(log.submit(writes(projectCreated(n)))))
        })
      await Promise.all([log.submit(writes(projectCreated(1))), log.submit(writes(projectCreated(2))), inNextTurn(3)])
      expect(commits).toEqual([3])
      await Promise.all([log.submit(writes(projectCreated(4))), inNextTurn(5)])
      expect(commits).toEqual([3, 4, 5])
    }))

  test('times rise with positions, also while the clock stands still or goes back', async () => {
    jest.useFakeTimers({
      now: Date.UTC(2026, 0, 1),
      doNotFake: [
        'setImmediate',
        'nextTick',
        'queueMicrotask',
        'performance',
        'setTimeout',
        'setInterval',
        'clearImmediate',
        'clearInterval',
        'clearTimeout',
        'hrtime',
      ],
    })
    try {
      await withLog(async ({ log, file, vault }) => {
        for (const clock of [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1), Date.UTC(2020, 0, 1), Date.UTC(2026, 0, 1, 0, 0, 0, 1)]) {
          jest.setSystemTime(clock)
          await Promise.all([log.submit(writes(skillRenamed())), log.submit(writes(skillRenamed()))])
        }
        const times = (await envelopes(log)).map(({ recorded_at }) => recorded_at)
        expect(times).toEqual([...new Set(times)].sort())
        expect(times.at(-1)).toBe('2026-01-01T00:00:00.001001Z')
        await log.close()
        jest.setSystemTime(Date.UTC(2019, 0, 1))
        const again = new SqliteLog({ file, vault })
        await again.submit(writes(skillRenamed()))
        expect((await envelopes(again)).at(-1)?.recorded_at).toBe('2026-01-01T00:00:00.001002Z')
        await again.close()
      })
    } finally {
      jest.useRealTimers()
    }
  })

  test('closing carries out what waits, refuses what comes, and stays closed', () =>
    withLog(async ({ log, file, vault }) => {
      const waiting = Array.from({ length: 2_500 }, (_, i) => log.submit(writes(projectCreated(i + 1))))
      const closed = log.close()
      expect(await refusal(log.submit(writes()))).toBe('busy')
      await closed
      expect((await Promise.all(waiting)).at(-1)?.positions).toEqual([2_500])
      // The drain that was scheduled before must not open the file again.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      expect(() => statSync(`${file}-wal`)).toThrow('ENOENT')
      for (const read of [() => log.head(), () => log.readAll(0, 1), () => log.resources.list('project')])
        expect(await refusal(read())).toBe('busy')
      expect(() => statSync(`${file}-wal`)).toThrow('ENOENT')
      await log.close()
      const again = new SqliteLog({ file, vault })
      expect((await again.head()).position).toBe(2_500)
      await again.close()
    }))

  test('events cannot be changed, deleted or replaced, not even by the log’s own connection', () =>
    withLog(async ({ log, file }) => {
      await log.submit(writes(projectCreated(1)))
      await log.close()
      const db = new Database(file)
      db.pragma('recursive_triggers = ON')
      for (const statement of [
        `UPDATE events SET text = '{}'`,
        'UPDATE OR REPLACE events SET position = 2',
        'DELETE FROM events',
        `INSERT OR REPLACE INTO events (position, text, chain) SELECT position, text, chain FROM events`,
        `REPLACE INTO events (position, text, chain) SELECT 2, text, chain FROM events`,
      ])
        expect(() => db.exec(statement)).toThrow(/never (changed|deleted)/)
      db.close()
    }))

  test('the log’s own connection has the pragma that makes REPLACE meet the triggers', () =>
    withLog(async ({ log, file }) => {
      await log.submit(writes(projectCreated(1)))
      // A trigger of ours runs on the log's own connection: it tries to replace the event before.
      const db = new Database(file)
      db.exec(`CREATE TRIGGER attack AFTER INSERT ON events WHEN new.position = 2 BEGIN
        INSERT OR REPLACE INTO events (position, text, chain) SELECT 1, text, chain FROM events WHERE position = 1; END`)
      db.close()
      expect(await refusal(log.submit(writes(projectCreated(2))))).toBe('storage_failed')
      expect((await log.head()).position).toBe(1)
    }))

  test('resources built anew are the ones that grew with the log', () =>
    withLog(async ({ log, ledger, file }) => {
      await fillWithEverything({ log, ledger })
      await log.close()
      const db = new Database(file)
      const dump = () => [
        db.prepare('SELECT * FROM resources ORDER BY stream').all(),
        db.prepare('SELECT * FROM links ORDER BY 1, 2').all(),
      ]
      const grown = dump()
      db.exec(`UPDATE resources SET state = '{}'; DELETE FROM links`)
      rebuildResources(db)
      expect(dump()).toEqual(grown)
      expect(grown[0]).not.toHaveLength(0)
      db.close()
    }))

  test('resources that other code built are built anew when the log opens', () =>
    withLog(async ({ log, file, vault }) => {
      await log.submit(writes(projectCreated(1, 'shop')))
      await log.close()
      tamperWith(file, (db) => db.exec(`UPDATE resources SET state = '{}'; UPDATE meta SET value = 'old' WHERE key = 'resources_built_by'`))
      const again = new SqliteLog({ file, vault })
      expect((await again.resources.one('project', 'shop'))?.state).toEqual({ name: 'shop' })
      await again.close()
    }))

  test('a log whose end is broken does not open, and says where', () =>
    withLog(async ({ log, file, vault }) => {
      await log.submit(writes(projectCreated(1), projectCreated(2), projectCreated(3)))
      await log.close()
      tamperWith(file, (db) => db.exec(`UPDATE events SET text = replace(text, 'project 2', 'project 9')`))
      expect(() => new SqliteLog({ file, vault })).toThrow('broken at position 2')
    }))
})

const fillWithEverything = async ({ ledger }: Pick<OpenLog, 'log' | 'ledger'>) => {
  const run = (command: Parameters<typeof ledger.execute>[0]) => ledger.execute(command, origin)
  await run({ type: 'CreateProject', data: { project: 'shop' } })
  await run({ type: 'CreateSkill', data: { project: 'shop', skill: 's', type: 'sql', params: { token: 't' } } })
  await run({
    type: 'CreateAgent',
    data: { project: 'shop', agent: 'a', model_name: null, provider: null, skills: [{ name: 's', params: {} }], params: {} },
  })
  await run({ type: 'CreateDatabase', data: { database: 'd', engine: 'slack', parameters: {} } })
  await run({ type: 'CreateChatbot', data: { project: 'shop', chatbot: 'c', agent: 'a', database: 'd' } })
  await run({ type: 'CreateView', data: { project: 'shop', view: 'v', query: 'SELECT 1', database: 'files' } })
  await run({ type: 'UpdateSkill', data: { project: 'shop', skill: 's', name: 'S2', params: { a: 1 } } })
  await run({ type: 'DeleteView', data: { project: 'shop', view: 'v' } })
  await run({ type: 'RenameProject', data: { project: 'shop', name: 'Store', defaultProject: 'x' } })
}

describe('when the storage fails', () => {
  const pageCount = (file: string) => {
    const db = new Database(file, { readonly: true })
    const pages = db.pragma('page_count', { simple: true }) as number
    db.close()
    return pages
  }

  test('a disk that is full in mid-batch: nothing acknowledged is lost, nothing refused is there, and the log goes on', () =>
    withLog(async (open) => {
      const { log, file, pragmas } = open
      await log.submit(writes(projectCreated(1), skillCreated(2, 'first')))
      // The limit is set on a connection when it opens: one failing commit makes the log open anew.
      pragmas.push(`max_page_count = ${pageCount(file) + 4}`)
      await failOneCommit(open)
      const settled = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) => log.submit(writes(skillCreated(i + 10, `s${i}`, { text: 'x'.repeat(1_000) })))),
      )
      expect(settled.every((one) => one.status === 'rejected' && (one.reason as Problem).code === 'storage_failed')).toBe(true)
      expect((await log.head()).position).toBe(2)
      expect((await log.resources.list('skill')).map(({ state }) => state.name)).toEqual(['first'])

      // One at a time some fit before the disk is full again.
      const acknowledged: string[] = []
      for (let i = 0; i < 40; i++)
        await log.submit(writes(skillCreated(i + 100, `t${i}`, { text: 'x'.repeat(1_000) }))).then(
          () => acknowledged.push(`t${i}`),
          () => undefined,
        )
      expect(acknowledged.length).toBeLessThan(40)
      expect((await log.resources.list('skill')).map(({ state }) => state.name)).toEqual(['first', ...acknowledged])

      pragmas.length = 0
      pragmas.push('max_page_count = 1000000')
      await failOneCommit(open)
      await Promise.all(Array.from({ length: 40 }, (_, i) => log.submit(writes(skillCreated(i + 200, `u${i}`)))))
      const all = await envelopes(log)
      expect(all.map(({ position }) => position)).toEqual(all.map((_, i) => i + 1))
      expect(all).toHaveLength(2 + acknowledged.length + 40)
      expect((await verifyLog({ logFile: file })).findings).toEqual([])
    }))

  /** A real failure of COMMIT: a deferred constraint that only the end of the transaction finds broken. */
  const poison = (file: string, on: boolean) => {
    const db = new Database(file)
    db.exec(
      on
        ? `CREATE TABLE absent (id INTEGER PRIMARY KEY);
           CREATE TABLE broken (id INTEGER REFERENCES absent DEFERRABLE INITIALLY DEFERRED);
           CREATE TRIGGER poison AFTER INSERT ON events BEGIN INSERT INTO broken VALUES (new.position); END`
        : `DROP TRIGGER poison; DROP TABLE broken; DROP TABLE absent`,
    )
    db.close()
  }
  const failOneCommit = async ({ log, file }: OpenLog) => {
    poison(file, true)
    expect(await refusal(log.submit(writes(projectCreated(9_999))))).toBe('storage_failed')
    poison(file, false)
  }

  test('a COMMIT that fails refuses the whole batch, and the next one goes on without a gap', () =>
    withLog(async (open) => {
      const { log, file } = open
      await log.submit(writes(projectCreated(1)))
      poison(file, true)
      const settled = await Promise.allSettled([log.submit(writes(projectCreated(2))), log.submit(writes(projectCreated(3)))])
      for (const one of settled)
        expect(one).toMatchObject({ reason: { code: 'storage_failed', status: 503, extras: { retryAfterSeconds: 5 } } })
      expect((await log.head()).position).toBe(1)
      expect(await log.resources.list('project')).toHaveLength(1)
      poison(file, false)
      const [a, b] = await Promise.all([log.submit(writes(projectCreated(2))), log.submit(writes(projectCreated(3)))])
      expect([a.positions, b.positions]).toEqual([[2], [3]])
      expect((await verifyLog({ logFile: file })).findings).toEqual([])
    }))

  test('an idempotency key of a failed commit is free again', () =>
    withLog(async ({ log, file }) => {
      const keyed = { ...writes(projectCreated(1)), idempotency: { key: 'k', fingerprint: 'f' } }
      poison(file, true)
      expect(await refusal(log.submit(keyed))).toBe('storage_failed')
      poison(file, false)
      expect((await log.submit(keyed)).repeated).toBe(false)
    }))

  test('another writer behind the log’s back costs one batch, never the chain', () =>
    withLog(async ({ log, file, vault }) => {
      await log.submit(writes(projectCreated(1)))
      const intruder = new SqliteLog({ file, vault })
      await intruder.submit(writes(projectCreated(2)))
      await intruder.close()
      expect(await refusal(log.submit(writes(projectCreated(3))))).toBe('storage_failed')
      expect((await log.submit(writes(projectCreated(3)))).positions).toEqual([3])
      expect((await verifyLog({ logFile: file })).findings).toEqual([])
    }))

  test('reading while the storage fails is refused as such, and works again afterwards', () =>
    withLog(async ({ log, pragmas }) => {
      await log.submit(writes(projectCreated(1)))
      const name = { stream: stream(1), event: { type: 'ProjectRenamed' as const, data: { name: 'shop' } } }
      pragmas.push('journal_mode = no such pragma syntax (')
      await refusal(
        log.submit({
          ...writes(name),
          decide: () => {
            throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
          },
        }),
      )
      for (const read of [
        () => log.head(),
        () => log.readAll(0, 1),
        () => log.readStream(stream(1), 0, 1),
        () => log.payload('x'),
        () => log.resources.list('project'),
      ])
        expect(await refusal(read())).toBe('storage_failed')
      expect(await refusal(log.submit(writes(name)))).toBe('storage_failed')
      pragmas.length = 0
      await log.submit(writes(name))
      expect((await log.resources.one('project', 'SHOP'))?.version).toBe(2)
    }))
})
