import { describe, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { logStream } from '../../../events/records/log.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { limits } from '../../../src/basics/limits.js'
import { Ledger } from '../../../src/commands/ledger.js'
import type { Delta, EventRow, Place } from '../../../src/log/shared/postgres/rows.js'
import { Link, SharedLogSession } from '../../../src/log/shared/postgres/shared-log-session.js'
import { batchBefore } from '../../../src/log/shared/postgres/statements.js'
import { Replica } from '../../../src/log/shared/replica.js'
import { Sequencer } from '../../../src/log/shared/sequencer.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { SharedWriteQueue } from '../../../src/log/shared/shared-write-queue.js'
import { LogWriter } from '../../../src/log/sqlite/log-writer.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { countOf } from '../../support/counts.js'
import { startCutProxy } from '../../support/log/cut-proxy.js'
import { logServer } from '../../support/log/each-log.js'
import { expectSame, newest, rowsIn, runSql, withNodesOf, type Node } from '../../support/log/nodes.js'
import {
  origin,
  patiently,
  projectCreated,
  refusal,
  stream,
  tamperWith,
  temporaryDirectory,
  testKey,
  writes,
} from '../../support/log/log.js'
import { tracesInFiles } from '../../support/observe/traces.js'
import { until, whenReached } from '../../support/until.js'

const { server } = logServer()

/** Runs a test over nodes of one log. `through` is the address that a node is given, by its number; `another` adds one. */
const withNodes = (
  count: number,
  run: (nodes: Node[], url: string, another: () => Promise<Node>) => Promise<void>,
  through?: (url: string, n: number) => string,
) => withNodesOf(server(), count, run, through)

/** Whether a transaction that writes to a file is open. */
const isWritten = (file: string): boolean => {
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch {
    return true
  } finally {
    db.close()
  }
}

/** The ways in which nodes hear of new batches, made deaf. */
const ignored = {
  poll: () => jest.spyOn(SharedWriteQueue.prototype, 'poll').mockImplementation(async () => undefined),
  hear: () => jest.spyOn(SharedWriteQueue.prototype, 'hear').mockImplementation(() => undefined),
}

/** What a session of a node says of itself, in milliseconds. */
const sessionSettings = {
  statement_timeout: String(limits.sharedStatementTimeoutMs),
  idle_in_transaction_session_timeout: String(limits.sharedLockIdleTimeoutMs),
  transaction_timeout: String(2 * limits.sharedStatementTimeoutMs),
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
}

const createProject = (project: string) => ({ type: 'CreateProject' as const, data: { project } })
const createSkill = (project: string, skill: string, params: object = {}) => ({
  type: 'CreateSkill' as const,
  data: { project, skill, type: 'sql', params: params as never },
})
const withKey = (key: string, request = 'r') => ({ idempotency: { key, request } })
const reply = (body: string) => ({ status: 200, type: null, etag: null, body })

describe('nodes of one log', () => {
  test('decide on what all of them wrote: a name is taken once, and a refusal is of the newest state', () =>
    withNodes(3, async (nodes) => {
      const [a, b] = nodes as [Node, Node, Node]
      await a.ledger.execute(createProject('shop'), origin)
      // The node that is asked next has not followed yet.
      await b.ledger.execute(createSkill('shop', 'first'), origin)
      expect(await refusal(a.ledger.execute(createSkill('shop', 'FIRST'), origin))).toBe('already_exists')
      const settled = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) => nodes[i % 3]!.ledger.execute(createSkill('shop', `s${i % 4}`), origin)),
      )
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
      for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'already_exists' })
      await expectSame(nodes)
    }))

  test('give a request that is sent again the first answer, whichever node gets it, also both at once', () =>
    withNodes(2, async (nodes) => {
      const [a, b] = nodes as [Node, Node]
      const first = await a.ledger.execute(createProject('shop'), origin, withKey('k'))
      const again = await patiently(() => b.ledger.execute(createProject('shop'), origin, withKey('k')))
      expect(again).toEqual({ ...first, repeated: true })
      for (let i = 0; i < 20; i++) {
        const execute = ({ ledger }: Node) => patiently(() => ledger.execute(createSkill('shop', `s${i}`), origin, withKey(`k${i}`)))
        const both = await Promise.all(nodes.map(execute))
        expect(both.map(({ repeated }) => repeated).sort()).toEqual([false, true])
        expect(both[0]?.positions).toEqual(both[1]?.positions)
      }
      const keyed = a.ledger.keyed(origin, withKey('k'))
      expect(await a.log.keepReply(keyed, reply('a'), 0)).toEqual(reply('a'))
      expect(await patiently(() => b.log.keepReply(keyed, reply('b'), 0))).toEqual(reply('a'))
      expect(await refusal(b.ledger.execute(createProject('x'), origin, withKey('k', 'other')))).toBe('idempotency_mismatch')
      await expectSame(nodes)
    }))

  test('write no batch that is too large for the others: kept answers count, too', () =>
    withNodes(1, async ([a], url) => {
      const large = reply('x'.repeat(1_000_000))
      const keep = (i: number) => a!.log.keepReply(a!.ledger.keyed(origin, withKey(`k${i}`)), large, 0)
      // What waits behind large batches for too long is refused, as on a busy machine.
      await Promise.all(Array.from({ length: 30 }, (_, i) => patiently(() => keep(i))))
      const rows = await rowsIn<{ most: number; sum: number }>(
        url,
        'SELECT max(bytes)::int AS most, sum(bytes)::int AS sum FROM mindledger.batches',
      )
      expect(rows[0]?.sum).toBeGreaterThan(30_000_000)
      expect(rows[0]?.most).toBeLessThan(limits.sharedBatchMaxBytes + 2_000_000)
    }))

  test('share what is no event: secrets, keys of heads, forgotten answers; and an erasure leaves the files of all', () =>
    withNodes(2, async (nodes) => {
      const [a, b] = nodes as [Node, Node]
      const sealed = a.vault.seal(Buffer.from('a secret'))
      const data = { project: stream(1), name: 's', type: 'sql', params: { key: { $secret: sealed.hash } } }
      await a.log.submit({ ...writes({ stream: stream(2), event: { type: 'SkillCreated', data } }), payloads: [sealed] })
      await a.log.noteHeadKey('vkey')
      await a.ledger.execute(createProject('shop'), origin, withKey('old'))
      await newest(b.log)
      expect((await b.log.payload(sealed.hash))?.toString()).toBe('a secret')
      expect(b.log.headKeys()).toEqual(['vkey'])
      expect(await patiently(() => b.log.repeated(b.ledger.keyed(origin, withKey('old'))))).toBeDefined()

      await b.log.forgetSomeAnswers(Date.now() + 60_000)
      await newest(a.log)
      expect(await a.log.repeated(a.ledger.keyed(origin, withKey('old')))).toBeUndefined()

      const payloads = [{ hash: sealed.hash, replacement: null }]
      const erased = { what: 'secrets' as const, subject: 's', reason: null, payloads, blobs: [] }
      await b.log.submit(writes({ stream: logStream, event: { type: 'DataErased', data: erased } }))
      await newest(a.log)
      expect(await a.log.payloadState(sealed.hash)).toEqual({ isErased: true, replacedBy: null, bytes: 0 })
      await b.log.wipe()
      for (const { file } of nodes)
        await until(() => tracesInFiles([file, `${file}-wal`], [sealed.wrapped.subarray(0, 12), sealed.body.subarray(12, 24)]).length === 0)
      await expectSame(nodes)
    }))

  test('read what any of them acknowledged, once they were asked for the newest', () =>
    withNodes(2, async (nodes) => {
      const [a, b] = nodes as [Node, Node]
      for (let i = 0; i < countOf('SHARED_READS'); i++) {
        const [writing, reading] = i % 2 === 0 ? [a, b] : [b, a]
        const { positions } = await writing.log.submit(writes(projectCreated(i + 1)))
        await newest(reading.log)
        expect((await reading.log.head()).position).toBe(positions[0])
        expect((await reading.log.resources.one('project', `project ${i + 1}`))?.id).toBe(positions[0])
      }
    }))

  test('tell those who listen of what others wrote, and follow without being asked', () =>
    withNodes(2, async ([a, b]) => {
      const heard: [number, string[]][] = []
      b!.log.onCommitted((position, changed, events) =>
        heard.push([position, [...changed.values(), ...events.map(({ event }) => event.type)]]),
      )
      await a!.log.submit(writes(projectCreated(1)))
      await until(() => heard.length > 0)
      expect(heard).toEqual([[1, ['project', 'ProjectCreated']]])
    }))

  test.each(['poll', 'hear'] as const)('follow what others wrote without %s: notifications and polling each suffice', async (without) => {
    const lost = ignored[without]()
    try {
      await withNodes(2, async ([a, b]) => {
        const { positions } = await a!.log.submit(writes(projectCreated(1)))
        await until(async () => (await b!.log.head()).position === positions[0])
      })
    } finally {
      lost.mockRestore()
    }
  })

  test('take no notice of notifications that are not the number of a batch', () =>
    withNodes(2, async ([a, b], url) => {
      for (const said of ['x', '', '-1', '1.5', '1e400', '9'.repeat(400)]) await runSql(url, `NOTIFY mindledger_log, '${said}'`)
      await a!.log.submit(writes(projectCreated(1)))
      await newest(b!.log)
      expect((await b!.log.health()).shared).toEqual({ state: 'following', lag: { batches: 0, events: 0 } })
      await expectSame([a!, b!])
    }))

  test('go on from where they were after a restart, and a new one gets everything', () =>
    withNodes(1, async ([a], _, another) => {
      for (let i = 0; i < 20; i++) await a!.log.submit(writes(...Array.from({ length: 100 }, (_, n) => projectCreated(i * 100 + n))))
      await a!.reopen()
      await a!.log.submit(writes(projectCreated(9_999)))
      await expectSame([a!, await another()])
    }))
})

test('a node that follows a lot gives way to other work in between, and shows only whole batches', () =>
  withNodes(2, async ([a, b], url, another) => {
    const count = 5 * limits.sharedTurnMaxRows
    await newest(b!.log)
    const seen = new Set<number>()
    const turn = { added: 0, most: 0, isOver: false }
    const look = (): void => {
      turn.most = Math.max(turn.most, turn.added)
      turn.added = 0
      void b!.log.head().then(({ position }) => seen.add(position))
      if (!turn.isOver) setImmediate(look)
    }
    const add = Reflect.get(LogWriter.prototype, 'add')
    const adding = jest.spyOn(LogWriter.prototype, 'add').mockImplementation(function (this: LogWriter, event) {
      turn.added += 1
      add.call(this, event)
    })
    setImmediate(look)
    try {
      for (let first = 0; first < 3 * count; first += count)
        await Promise.all(Array.from({ length: count }, (_, n) => patiently(() => a!.log.submit(writes(projectCreated(first + n + 1))))))
      await newest(b!.log)
    } finally {
      turn.isOver = true
      adding.mockRestore()
    }
    expect((await b!.log.head()).position).toBe(3 * count)
    // This counts from one immediate to the next: parts of two turns may fall in between.
    expect(turn.most).toBeGreaterThan(0)
    expect(turn.most).toBeLessThanOrEqual(2 * limits.sharedTurnMaxRows)
    const ends = await rowsIn<{ position: string }>(url, 'SELECT position FROM mindledger.batches')
    expect([...seen].filter((position) => !ends.some((end) => Number(end.position) === position))).toEqual([])

    const parts: number[] = []
    const after = Reflect.get(Sequencer.prototype, 'after')
    const fetching = jest.spyOn(Sequencer.prototype, 'after').mockImplementation(async function (this: Sequencer, place) {
      const delta = await after.call(this, place)
      parts.push(delta.rows.events.length)
      return delta
    })
    try {
      const c = await another()
      await expectSame([a!, b!, c])
    } finally {
      fetching.mockRestore()
    }
    expect(Math.max(...parts)).toBeLessThanOrEqual(limits.sharedDeltaMaxEvents)
    expect(parts.reduce((sum, events) => sum + events, 0)).toBe(3 * count)
  }))

describe('while PostgreSQL decides', () => {
  test('nobody sees a batch: no read, no head, no proof', () =>
    withNodes(1, async ([a]) => {
      await a!.log.submit(writes(projectCreated(1)))
      const [head, root] = [await a!.log.head(), await a!.log.rootAt(1)]
      const goOn = await server().postgres.freeze()
      const writing = a!.log.submit(writes(...Array.from({ length: 100 }, (_, n) => projectCreated(n + 2))))
      await until(() => isWritten(a!.file))
      expect(await a!.log.head()).toEqual(head)
      expect(await a!.log.rootAt(1)).toEqual(root)
      expect(await refusal(a!.log.rootAt(2))).toBe('wrong_arguments')
      expect(await a!.log.readAll(0, 10)).toHaveLength(1)
      expect(await a!.log.resources.list('project')).toHaveLength(1)
      goOn()
      expect((await writing).positions.at(-1)).toBe(101)
      await expectSame([a!])
    }))

  test.each(['answers', 'requests'] as const)('a batch whose %s are lost is recorded once, and acknowledged', async (loses) => {
    const proxy = await startCutProxy(server().postgres.port)
    const through = (url: string) => url.replace(/:\d+\//, `:${proxy.port}/`)
    await withNodes(
      1,
      async ([a]) => {
        await a!.log.submit(writes(projectCreated(1)))
        for (let i = 2; i < 6; i++) {
          const cut = proxy.cutAt(`project ${i}`, loses)
          const { positions } = await a!.log.submit(writes(projectCreated(i)))
          await cut
          expect(positions).toEqual([i])
        }
        await expectSame([a!])
      },
      through,
    )
    await proxy.stop()
  })

  test.each([
    ['', ['pg_cancel_backend']],
    [', also when its answer was lost and the log was asked for it', ['pg_terminate_backend', 'pg_cancel_backend']],
  ])('a batch that no standby has counts as unknown%s', (_, blows) =>
    withNodes(1, async ([a]) => {
      const { run } = server().postgres
      const waiting = `FROM pg_stat_activity WHERE application_name = 'mindledger' AND wait_event = 'SyncRep'`
      const found = async (function_: string) => ((await run(`SELECT ${function_}(pid) ${waiting}`)).rowCount ?? 0) > 0
      await run(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`)
      await run('SELECT pg_reload_conf()')
      try {
        let outcome: string | undefined
        // PostgreSQL takes a moment to know the setting.
        for (let n = 1; outcome === undefined; n++) {
          const settled = { is: false }
          const writing = a!.log.submit(writes(projectCreated(n))).then(
            () => 'recorded',
            (error: unknown) => (error as { code: string }).code,
          )
          void writing.finally(() => (settled.is = true))
          await until(async () => settled.is || (await found('to_jsonb')))
          if (settled.is) continue
          // PostgreSQL gives up a wait of several seconds by itself.
          for (const blow of blows) await until(async () => settled.is || (await found(blow)))
          outcome = await writing
        }
        expect(outcome).toBe('outcome_unknown')
      } finally {
        await run('ALTER SYSTEM RESET synchronous_standby_names')
        await run('SELECT pg_reload_conf()')
      }
      await expectSame([a!])
    }),
  )

  test('a node that falls silent with the head in its hands keeps the others waiting no longer than its limit', () =>
    withNodes(1, async ([a], url) => {
      const silent = new pg.Client({ connectionString: url })
      silent.on('error', () => undefined)
      await silent.connect()
      await silent.query('SET idle_in_transaction_session_timeout = 2000')
      await silent.query('BEGIN; SELECT FROM mindledger.head FOR UPDATE')
      expect((await a!.log.submit(writes(projectCreated(1)))).positions).toEqual([1])
      await silent.end().catch(() => undefined)
    }))

  test('a file that cannot take what PostgreSQL took costs nobody an answer: the node follows', () =>
    withNodes(1, async ([a]) => {
      await a!.log.submit(writes(projectCreated(1)))
      tamperWith(a!.file, (db) =>
        db.exec(`CREATE TABLE absent (id INTEGER PRIMARY KEY);
          CREATE TABLE broken (id INTEGER REFERENCES absent DEFERRABLE INITIALLY DEFERRED);
          CREATE TRIGGER poison AFTER INSERT ON events WHEN new.position = 2 BEGIN INSERT INTO broken VALUES (1); END`),
      )
      expect((await a!.log.submit(writes(projectCreated(2)))).positions).toEqual([2])
      expect((await a!.log.head()).position).toBe(1)
      tamperWith(a!.file, (db) => db.exec('DROP TRIGGER poison; DROP TABLE broken; DROP TABLE absent'))
      await until(async () => (await a!.log.head()).position === 2)
      expect((await a!.log.submit(writes(projectCreated(3)))).positions).toEqual([3])
    }))
})

test('after a miss a node takes the head, so that a quicker one does not overtake it again', async () => {
  const proxy = await startCutProxy(server().postgres.port)
  try {
    await withNodes(
      2,
      async ([a, b]) => {
        const written = proxy.holdAt('project 1')
        const writing = a!.log.submit(writes(projectCreated(1))).then(({ positions }) => positions)
        const pass = await written
        await b!.log.submit(writes(projectCreated(2)))
        const locked = proxy.holdAt('mindledger.head FOR UPDATE')
        pass()
        const lock = await Promise.race([locked, writing])
        if (typeof lock !== 'function') throw new Error('the batch was decided again without the head')
        lock()
        expect(await writing).toEqual([2])
        await expectSame([a!, b!])
      },
      (url, n) => (n === 0 ? url.replace(/:\d+\//, `:${proxy.port}/`) : url),
    )
  } finally {
    await proxy.stop()
  }
})

test('PostgreSQL frees the head of a silent node within the three seconds that are promised', () => {
  expect(limits.sharedLockIdleTimeoutMs + limits.sharedPollIntervalMs).toBeLessThan(3_000)
})

test('each session has the limits that nodes rely on', async () => {
  const url = await server().newUrl()
  const session = await whenReached(() => SharedLogSession.open(url))
  try {
    const settings = Object.keys(sessionSettings).map((name) => `(SELECT setting FROM pg_settings WHERE name = '${name}') AS ${name}`)
    const { rows } = await session.query(`SELECT ${settings.join(', ')}`)
    expect(rows).toEqual([sessionSettings])
  } finally {
    await session.close()
  }
})

test('a write that waited for another one is decided again, whatever isolation the database has as its default', () =>
  withNodes(1, async ([a], url) => {
    const name = new URL(url).pathname.slice(1)
    await runSql(url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
    await a!.reopen()
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    try {
      await holder.query('BEGIN; UPDATE mindledger.head SET position = position')
      const writing = a!.log.submit(writes(projectCreated(1)))
      const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`
      await until(async () => (await rowsIn(url, waits)).length > 0)
      await holder.query('COMMIT')
      expect((await writing).positions).toEqual([1])
    } finally {
      await holder.end()
    }
    await expectSame([a!])
  }))

test('a session whose first statement is refused is closed, however often it is tried', async () => {
  const { postgres, newUrl } = server()
  const url = await newUrl()
  const link = new Link(url, async (session) => {
    await session.query('SELECT 1 / 0')
  })
  for (let refused = 0; refused < 3; refused++) await expect(link.session()).rejects.toThrow('division by zero')
  const sessions = `SELECT FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`
  await until(async () => (await postgres.run(sessions)).rowCount === 0)
  await link.close()
})

describe('times', () => {
  test.each([3_600_000, -3_600_000])('are those of PostgreSQL on a node whose clock is off by %i ms', (off) =>
    withNodes(1, async ([a]) => {
      const real = Date.now
      const now = jest.spyOn(Date, 'now').mockImplementation(() => real() + off)
      await a!.log.submit(writes(projectCreated(1)))
      await a!.reopen()
      const keyed = { idempotency: { key: 'k', request: 'r' } }
      await a!.ledger.execute(createProject('shop'), origin, keyed)
      const said = a!.log.now()
      now.mockRestore()
      const db = new Database(a!.file, { readonly: true })
      const answeredAt = db.prepare<[], string>('SELECT answered_at FROM answers').pluck().get()
      db.close()
      for (const time of [said, Date.parse(answeredAt ?? '')]) expect(Math.abs(time - Date.now())).toBeLessThan(60_000)
      for (const { text } of await a!.log.readAll(0, 10))
        expect(Math.abs(Date.parse(parseEnvelope(text).recorded_at) - Date.now())).toBeLessThan(60_000)
    }),
  )
})

describe('tables', () => {
  test('of an earlier release get what they lack from a node of this one; those of another format are refused', () =>
    withNodes(1, async ([a], url) => {
      await a!.log.submit(writes(projectCreated(1)))
      await a!.log.close()
      await runSql(url, 'DROP TABLE mindledger.logins')
      await a!.reopen()
      expect(await rowsIn(url, 'SELECT login FROM mindledger.logins')).toEqual([])
      await a!.log.close()
      await runSql(url, 'UPDATE mindledger.head SET format = 2')
      const says = 'the shared log has the format 2, and this release knows format 1'
      await expect(a!.reopen()).rejects.toThrow(`${says}: start this node with the newer release of the other nodes`)
    }))
})

describe('a data directory', () => {
  test('with another log is refused', () =>
    withNodes(1, async ([a]) => {
      const other = await server().newUrl()
      await a!.log.submit(writes(projectCreated(1)))
      await a!.log.close()
      await expect(SharedLog.open({ url: other, file: a!.file, vault: a!.vault })).rejects.toThrow('and the shared log is')
    }))
})

/** The events of a log, a batch each. */
const eventsOf = async (file: string, count: number): Promise<{ logId: string; events: EventRow[] }> => {
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file, vault })
  const ledger = new Ledger(log, vault)
  for (let i = 0; i < count; i++) await ledger.execute({ type: 'CreateProject', data: { project: `p${i}` } }, origin)
  const { logId } = await log.head()
  await log.close()
  const db = new Database(file, { readonly: true })
  const events = db.prepare<[], EventRow>('SELECT position, text, chain FROM events ORDER BY position').all()
  db.close()
  return { logId, events }
}

test('a node that is told of new batches while it starts follows them afterwards, and goes on', async () => {
  const directory = temporaryDirectory()
  const { logId, events } = await eventsOf(join(directory.path, 'others.sqlite'), 5)
  const replica = new Replica({ file: join(directory.path, 'log.sqlite'), logId, vault: new Vault(testKey), now: Date.now })
  const asked: Place[] = []
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const after = async (place: Place): Promise<Delta> => {
    // The log grows while the first answer is on its way.
    const last = asked.push(place) === 1 ? 2 : events.length
    await answered
    const rows = { events: events.slice(place.position, last), payloads: [], answers: [], notes: [] }
    return { rows, to: { seq: last, position: last, chain: events[last - 1]!.chain, batch: undefined }, newest: last }
  }
  const queue = new SharedWriteQueue({ replica, sequencer: { after } as unknown as Sequencer })
  try {
    const starting = queue.start()
    queue.hear(events.length)
    for (let i = 0; i < 10; i++) await nextTurn()
    answer()
    await starting
    await until(() => queue.place.position === events.length)
    expect(queue.health().unwritable).toBeUndefined()
    expect(asked.map(({ position }) => position)).toEqual([0, 2])
  } finally {
    await queue.close()
    directory.remove()
  }
})

type PlanNode = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; Plans?: PlanNode[] }

/** How many rows the nodes of a plan have looked at together. */
const rowsLookedAt = ({ Plans = [], ...node }: PlanNode): number => {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return Plans.reduce((sum, one) => sum + rowsLookedAt(one), own)
}

test('the last batch before a position is found by looking at few batches', async () => {
  const url = await server().newUrl()
  await runSql(
    url,
    `CREATE SCHEMA mindledger; CREATE TABLE mindledger.batches (seq bigint PRIMARY KEY, position bigint NOT NULL);
     INSERT INTO mindledger.batches SELECT n, 2 * n FROM generate_series(0, 20000) AS n; ANALYZE mindledger.batches`,
  )
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const asked: { text: string; values: unknown[] }[] = []
  const query = (text: string, values: unknown[]) => {
    asked.push({ text, values })
    return client.query(text, values)
  }
  try {
    const found: number[] = []
    for (const position of [1, 2, 3, 4_001, 39_999, 40_000, 40_001, 99_999])
      found.push(await batchBefore({ query } as unknown as SharedLogSession, position))
    expect(found).toEqual([0, 0, 1, 2_000, 19_999, 19_999, 20_000, 20_000])
    for (const { text, values } of asked) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
      expect(rowsLookedAt(rows[0]!['QUERY PLAN'][0].Plan)).toBeLessThan(1_000)
    }
  } finally {
    await client.end()
  }
})
