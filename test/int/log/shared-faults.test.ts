import { describe, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { nextChain } from '../../../events/stored/chain.js'
import type { SqlProcessStatus } from '../../../src/sql-process/sql-process.js'
import { isProblem } from '../../../src/basics/errors.js'
import { Halts } from '../../../src/basics/halts.js'
import { limits } from '../../../src/basics/limits.js'
import { SharedLogSession, UnreachableError } from '../../../src/log/shared/postgres/shared-log-session.js'
import { ResourceTable } from '../../../src/log/storage/resource-table.js'
import { lastPosition } from '../../../src/log/storage/schema.js'
import { Sequencer } from '../../../src/log/shared/sequencer.js'
import { readiness } from '../../../src/observe/readiness.js'
import { countOf } from '../../support/counts.js'
import { logServer } from '../../support/log/each-log.js'
import { expectSame, loseAfter, loseBatches, newest, runSql, withNodesOf, type Node } from '../../support/log/nodes.js'
import { origin, projectCreated, refusal, tamperWith, writes } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const { server } = logServer()

/** Runs a test over nodes of one log. `another` adds one. */
const withNodes = (count: number, run: (nodes: Node[], url: string, another: () => Promise<Node>) => Promise<void>) =>
  withNodesOf(server(), count, run)

const withKey = (key: string, request = 'r') => ({ idempotency: { key, request } })

test('a file that cannot be opened again ends nothing: writes are refused because of it, and all comes back with it', () =>
  withNodes(2, async ([a, b]) => {
    await a!.log.submit(writes(projectCreated(1)))
    await newest(b!.log)
    tamperWith(b!.file, (db) => db.exec('ALTER TABLE answers RENAME TO away'))
    for (let n = 2; n < 5; n++) {
      await expect(b!.log.submit(writes(projectCreated(n)))).rejects.toMatchObject({ code: 'storage_failed', title: 'Storage failed' })
      // The other one tells it of this, and it looks by itself, too.
      await a!.log.submit(writes(projectCreated(n)))
      await sleep(limits.sharedPollIntervalMs)
    }
    expect(await refusal(b!.log.head())).toBe('storage_failed')
    await until(async () => {
      const { shared } = await b!.log.health()
      return shared?.lag.batches === 3 && shared.lag.events === 3
    })
    const health = await b!.log.health()
    expect(health).toMatchObject({ position: null, shared: { state: 'following', lag: { batches: 3, events: 3 } } })
    expect(health.unwritable).toContain('answers')
    tamperWith(b!.file, (db) => db.exec('ALTER TABLE away RENAME TO answers'))
    await until(async () => (await b!.log.health()).unwritable === undefined)
    await b!.log.submit(writes(projectCreated(5)))
    await expectSame([a!, b!])
  }))

test('a node whose file cannot be written takes no work that another node could do, until it can be written again', () =>
  withNodes(1, async ([a]) => {
    await a!.log.submit(writes(projectCreated(1)))
    const { leases } = a!.log.peers
    await (await leases.take('before'))?.release()
    tamperWith(a!.file, (db) => db.exec('ALTER TABLE answers RENAME TO away'))
    await expect(a!.log.submit(writes(projectCreated(2)))).rejects.toMatchObject({ title: 'Storage failed' })
    expect(await leases.take('work')).toBeUndefined()
    tamperWith(a!.file, (db) => db.exec('ALTER TABLE away RENAME TO answers'))
    await until(async () => (await leases.take('work')) !== undefined)
    await a!.log.submit(writes(projectCreated(2)))
  }))

describe('when PostgreSQL is away', () => {
  test('writes are refused with a time to wait, reads go on, and it all comes back by itself', () =>
    withNodes(2, async (nodes) => {
      const [a, b] = nodes as [Node, Node]
      await a.log.submit(writes(projectCreated(1)))
      await newest(b.log)
      const { postgres } = server()
      await postgres.kill()
      await expect(a.log.submit(writes(projectCreated(2)))).rejects.toMatchObject({ status: 503, extras: { retryAfterSeconds: 2 } })
      // Once it is known, nobody waits.
      expect(await refusal(a.log.submit(writes(projectCreated(2))))).toBe('storage_failed')
      expect((await a.log.health()).unwritable).toContain('the shared log cannot be reached')
      for (const { log } of nodes) expect((await log.resources.list('project')).map(({ id }) => id)).toEqual([1])
      await expect(a.log.newest()).rejects.toMatchObject({ status: 503, extras: { retryAfterSeconds: 1 } })
      await postgres.revive()
      for (const { log } of nodes) await until(async () => (await log.health()).unwritable === undefined)
      await a.log.submit(writes(projectCreated(2)))
      await b.log.submit(writes(projectCreated(3)))
      await expectSame(nodes)
    }))

  test('a frozen one keeps only its own batch waiting: what comes behind that is refused sooner, and then nothing waits', () =>
    withNodes(1, async ([a]) => {
      await a!.log.submit(writes(projectCreated(1)))
      const goOn = await server().postgres.freeze()
      const ended: string[] = []
      const end = async (name: string, writing: Promise<unknown>) => void ended.push(`${name} ${await refusal(writing)}`)
      const first = end('first', a!.log.submit(writes(projectCreated(2))))
      await sleep(100)
      await Promise.all([first, end('second', a!.log.submit(writes(projectCreated(3))))])
      expect(ended).toEqual(['second storage_failed', 'first outcome_unknown'])
      expect((await a!.log.health()).unwritable).toContain('the shared log cannot be reached')
      await expect(a!.log.submit(writes(projectCreated(4)))).rejects.toMatchObject({ title: 'Shared log away' })
      goOn()
      await until(async () => (await a!.log.health()).unwritable === undefined)
      await a!.log.submit(writes(projectCreated(5)))
      await expectSame([a!])
    }))

  test('a statement that it gives up is told as its own, and not as the disk of this node', () =>
    withNodes(1, async ([a], url) => {
      await a!.log.submit(writes(projectCreated(1)))
      const holder = new pg.Client({ connectionString: url })
      await holder.connect()
      await holder.query('BEGIN; SELECT FROM mindledger.head FOR UPDATE')
      const hint = expect.not.stringContaining('disk')
      const refused = { code: 'storage_failed', title: 'Shared log slow', extras: { hint } }
      let said: unknown
      // On a busy machine a node may give up waiting for the answer just before it comes.
      await until(async () => {
        said = await a!.log.submit(writes(projectCreated(2))).catch((error: unknown) => error)
        return !isProblem(said) || said.code !== 'outcome_unknown'
      })
      expect(said).toMatchObject(refused)
      await holder.query('ROLLBACK')
      await holder.end()
      await until(async () => (await a!.log.health()).unwritable === undefined)

      await runSql(url, `ALTER TABLE mindledger.events ADD CONSTRAINT none CHECK (position < 2)`)
      const failed = { code: 'storage_failed', title: 'Shared log failed', extras: { hint, cause: expect.stringContaining('none') } }
      await expect(a!.log.submit(writes(projectCreated(2)))).rejects.toMatchObject(failed)
      expect((await a!.log.health()).unwritable).toContain('PostgreSQL refused a batch')
      await runSql(url, `ALTER TABLE mindledger.events DROP CONSTRAINT none`)
      await a!.log.submit(writes(projectCreated(2)))
      expect((await a!.log.health()).unwritable).toBeUndefined()
      await expectSame([a!])
    }))

  test('a session that it ends costs nobody an answer', () =>
    withNodes(2, async (nodes) => {
      const count = countOf('SHARED_WRITES')
      const written = nodes.map(() => 0)
      let seen = [...written]
      const writers = Promise.all(
        nodes.map(async ({ log }, n) => {
          for (let i = 0; i < count; i++) {
            await log.submit(writes(projectCreated(n * 1_000 + i)))
            written[n]! += 1
          }
        }),
      )
      const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mindledger' AND state IS NOT NULL`
      while ((await Promise.race([writers, sleep(300)])) === undefined) {
        // On a busy machine a new session takes longer than this: a node whose sessions are ended again and again rightly gives up.
        if (written.some((done, n) => done < count && done === seen[n])) continue
        seen = [...written]
        await server().postgres.run(end)
      }
      await expectSame(nodes)
      expect((await nodes[0]!.log.head()).position).toBe(2 * count)
    }))
})

test('a node that cannot catch up refuses writes after a while, and does other work meanwhile; a stop ends it', () =>
  withNodes(2, async ([a, b]) => {
    await newest(b!.log)
    // The others write as fast as it follows.
    const after = Reflect.get(Sequencer.prototype, 'after')
    const always = jest.spyOn(Sequencer.prototype, 'after').mockImplementation(async function (this: Sequencer, place) {
      await sleep(50)
      const delta = await after.call(this, place)
      return { ...delta, newest: delta.newest + 1_000 }
    })
    try {
      await a!.log.submit(writes(projectCreated(1)))
      await until(async () => (await b!.log.head()).position === 1)
      // Other work of the file, which comes between two parts, does not make the writes wait longer.
      const others = setInterval(() => void b!.log.wipe().catch(() => undefined), 100)
      await expect(b!.log.submit(writes(projectCreated(2))).finally(() => clearInterval(others))).rejects.toMatchObject({
        status: 503,
        code: 'behind',
      })
      await b!.log.wipe()
      await b!.log.close()
    } finally {
      always.mockRestore()
    }
    await b!.reopen()
    await b!.log.submit(writes(projectCreated(3)))
    await expectSame([a!, b!])
  }))

test('a node that starts reads smaller parts when PostgreSQL takes too long for large ones, and larger ones again later', () =>
  withNodes(1, async ([a], _, another) => {
    for (let n = 1; n <= 60; n++) await a!.log.submit(writes(projectCreated(n)))
    const { prototype } = SharedLogSession
    const query = Reflect.get(prototype, 'query')
    const asked: number[] = []
    const late = Object.assign(new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error'), { code: '57014' })
    const slow = jest.spyOn(prototype, 'query').mockImplementation(function (this: SharedLogSession, text, values, name) {
      if (name !== 'delta') return query.call(this, text, values, name)
      // One more than the batches of the part: it begins with the batch that the node has.
      const batches = Number(values?.[2]) - 1
      asked.push(batches)
      return batches > 4 ? Promise.reject(late) : query.call(this, text, values, name)
    })
    const b = await another().finally(() => slow.mockRestore())
    expect(asked.slice(0, 8)).toEqual([500, 250, 125, 62, 31, 15, 7, 3])
    expect(asked.slice(8)).toContain(6)
    await expectSame([a!, b])
  }))

describe('a shared log that lost what it had acknowledged', () => {
  test('is noticed by itself: the node names the positions, writes no more, and still reads', () =>
    withNodes(1, async ([a], url) => {
      for (let i = 1; i <= 5; i++) await a!.log.submit(writes(projectCreated(i)))
      await loseAfter(url, 3)
      await until(async () => (await a!.log.health()).unwritable?.includes('positions 4 to 5') === true)
      expect(await refusal(a!.log.submit(writes(projectCreated(6))))).toBe('storage_failed')
      expect(await a!.log.readAll(0, 10)).toHaveLength(5)
      await expect(a!.reopen()).rejects.toThrow('does not have the events of this node')
    }))

  test('is noticed when another node wrote in the place of the lost', () =>
    withNodes(1, async ([a], url, another) => {
      for (let i = 1; i <= 5; i++) await a!.log.submit(writes(projectCreated(i)))
      await loseAfter(url, 3)
      const other = await another()
      for (let i = 10; i <= 15; i++) await other.log.submit(writes(projectCreated(i)))
      expect(await refusal(a!.log.submit(writes(projectCreated(6))))).toBe('storage_failed')
      expect((await a!.log.health()).unwritable).toContain('positions 4 to 5')
    }))

  test('is noticed by a node that only reads, also when others wrote exactly as many batches', () =>
    withNodes(1, async ([a], url, another) => {
      for (let i = 1; i <= 5; i++) await a!.log.submit(writes(projectCreated(i)))
      await loseAfter(url, 3)
      const other = await another()
      for (const i of [10, 11]) await other.log.submit(writes(projectCreated(i)))
      await until(async () => (await a!.log.health()).unwritable?.includes('positions 4 to 5') === true)
      await expect(a!.log.newest()).rejects.toMatchObject({ status: 503 })
      // It answers what it has until it is halted: it cannot find out what others erased meanwhile.
      // A busy machine may have halted it already.
      const halts = jest.spyOn(Halts.prototype, 'count', 'get').mockReturnValue(0)
      expect(a!.log.sinceHalt()).toBeUndefined()
      halts.mockRestore()
      const now = Date.now()
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 2 * limits.sharedHaltMs)
      try {
        await expect(a!.log.sinceHalt()).rejects.toMatchObject({ status: 503 })
      } finally {
        clock.mockRestore()
      }
    }))
})

describe('a shared log that lost what was no event', () => {
  const reply = (body: string) => ({ status: 200, type: null, etag: null, body })
  const answersOf = ({ file }: Node) => {
    const db = new Database(file, { readonly: true })
    const found = db.prepare<[], string>('SELECT key FROM answers ORDER BY key').pluck().all()
    db.close()
    return found
  }
  const saysRows = async ({ log }: Node) => (await log.health()).unwritable?.includes('lost rows of it that are no events') === true

  test('is noticed though others wrote exactly as many batches, also by a write; a start takes what PostgreSQL has', () =>
    withNodes(2, async ([a, c], url, another) => {
      await a!.log.submit(writes(projectCreated(1)))
      await a!.log.keepReply(a!.ledger.keyed(origin, withKey('k')), reply('a'), 0)
      await newest(c!.log)
      await c!.log.close()
      await loseBatches(url, 1)
      const b = await another()
      await b.log.keepReply(b.ledger.keyed(origin, withKey('j')), reply('b'), 0)
      await until(() => saysRows(a!))
      expect(await refusal(a!.log.submit(writes(projectCreated(2))))).toBe('storage_failed')
      for (const node of [a!, c!]) {
        await node.reopen()
        expect(answersOf(node)).toEqual(['j'])
      }
      await b.log.submit(writes(projectCreated(2)))
      await a!.log.submit(writes(projectCreated(3)))
      await expectSame([a!, b, c!])
    }))

  test('is made up for without a look at all payloads, for which PostgreSQL takes too long in a large log', () =>
    withNodes(1, async ([a], url) => {
      await a!.log.submit(writes(projectCreated(1)))
      await a!.log.keepReply(a!.ledger.keyed(origin, withKey('k')), reply('a'), 0)
      await a!.log.close()
      await loseBatches(url, 1)
      const { prototype } = SharedLogSession
      const query = Reflect.get(prototype, 'query')
      const slow = jest.spyOn(prototype, 'query').mockImplementation(function (this: SharedLogSession, text, values, name) {
        const readsAll = text.includes('FROM mindledger.payloads') && !values
        return query.call(this, readsAll ? 'SELECT pg_sleep(60)' : text, values, name)
      })
      try {
        await a!.reopen()
      } finally {
        slow.mockRestore()
      }
      expect(answersOf(a!)).toEqual([])
      await a!.log.submit(writes(projectCreated(2)))
      await expectSame([a!])
    }))

  test('is found by a write that is quicker than any look', () =>
    withNodes(1, async ([a], url, another) => {
      await a!.log.submit(writes(projectCreated(1)))
      const other = await another()
      const look = jest.spyOn(Sequencer.prototype, 'look').mockRejectedValue(new UnreachableError('nobody looks'))
      await a!.log.keepReply(a!.ledger.keyed(origin, withKey('k')), reply('a'), 0)
      await other.log.close()
      await loseBatches(url, 1)
      await runSql(
        url,
        `UPDATE mindledger.head SET seq = seq + 1;
         INSERT INTO mindledger.batches SELECT seq, gen_random_uuid(), position, chain, 0 FROM mindledger.head`,
      )
      const written = await refusal(a!.log.submit(writes(projectCreated(2))))
      look.mockRestore()
      expect(written).toBe('storage_failed')
      expect(await saysRows(a!)).toBe(true)
    }))
})

/** Adds nodes of other releases to the list of nodes. */
const noteReleases = async (url: string, ...versions: string[]): Promise<void> => {
  const columns = 'id, run, version, started_at, seen_at, stopped, seq, position'
  const others = versions.map((version) => `('${version}', '${version}', '${version}', now(), now(), true, 0, 0)`)
  await runSql(url, `INSERT INTO mindledger.nodes (${columns}) VALUES ${others.join(', ')}`)
}

/** Appends a copy of the first event to the shared log, changed as a newer release might write it. */
const appendNewer = async (url: string, { log }: Node, change: (text: string) => string): Promise<void> => {
  const { position, chain } = await log.head()
  const [first] = await log.readAll(0, 1)
  const text = change(first!.text.replace('"position":1', `"position":${position + 1}`))
  const next = `'\\x${nextChain(Buffer.from(chain, 'hex'), text).toString('hex')}'`
  await server().inDatabase(
    url,
    `INSERT INTO mindledger.events VALUES (${position + 1}, '${text}', ${next});
     INSERT INTO mindledger.batches SELECT seq + 1, gen_random_uuid(), ${position + 1}, ${next}, 0 FROM mindledger.head;
     UPDATE mindledger.head SET seq = seq + 1, position = ${position + 1}, chain = ${next}`,
  )
}

test('a node that meets an event of a newer release stays before it: it loses nothing, decides nothing, and says why', () =>
  withNodes(3, async ([a, b, c], url) => {
    await a!.log.submit(writes(projectCreated(1)))
    await newest(b!.log)
    await c!.log.close()
    for (const n of [2, 3]) await a!.log.submit(writes(projectCreated(n)))
    await appendNewer(url, a!, (text) => text.replace('ProjectCreated', 'PlanetCreated'))
    const says = 'a newer release wrote the event at position 4, of the type PlanetCreated'
    for (const { log } of [a!, b!]) {
      await until(async () => (await log.health()).unwritable?.includes(says) === true)
      expect(await refusal(log.submit(writes(projectCreated(5))))).toBe('storage_failed')
      await expect(log.newest()).rejects.toMatchObject({ status: 503, detail: says })
      expect((await log.readAll(0, 10)).map(({ position }) => position)).toEqual([1, 2, 3])
      const sqlProcess = {
        status: () => ({ state: 'following', stopped: undefined, position: 3, losses: { other_rows: 0 } }) as SqlProcessStatus,
      }
      const at = (readsLocally: boolean) => readiness({ log, sqlProcess, warnings: () => [], readsLocally })
      expect(await at(false)).toMatchObject({ reads: { ready: false, reason: says }, log: { shared: { state: 'outdated' } } })
      expect((await at(true)).reads).toEqual({ ready: true })
    }
    await expect(a!.reopen()).rejects.toThrow(`${says}: start this node with that release`)
    // One that was away gets these events together with the one that it does not know.
    await expect(c!.reopen()).rejects.toThrow(says)
    const file = new Database(c!.file, { readonly: true })
    expect(lastPosition(file)).toBe(3)
    file.close()
    // Both nodes hear again and again that there is more.
    const [heard, following] = [jest.spyOn(Sequencer.prototype, 'look'), jest.spyOn(Sequencer.prototype, 'after')]
    await until(() => heard.mock.calls.length > 6)
    expect(following).not.toHaveBeenCalled()
    for (const spy of [heard, following]) spy.mockRestore()
  }))

test('a node whose own fold fails stays before the event: it calls this a fault of its release, and its log has the cause', () =>
  withNodes(2, async ([a, b], url) => {
    await a!.log.submit(writes(projectCreated(1)))
    await newest(b!.log)
    await noteReleases(url, '9.0.0')
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    // Only events of other nodes are folded in this way.
    const fold = jest.spyOn(ResourceTable.prototype, 'apply').mockImplementation(() => {
      throw new TypeError('this state has no members')
    })
    try {
      await a!.log.submit(writes(projectCreated(2)))
      const says = 'a fault of this release: it cannot apply the event at position 2, of the type ProjectCreated'
      await until(async () => (await b!.log.health()).unwritable !== undefined)
      expect(await b!.log.health()).toMatchObject({ position: 1, unwritable: says, shared: { state: 'outdated' } })
      await expect(b!.log.submit(writes(projectCreated(3)))).rejects.toMatchObject({
        code: 'storage_failed',
        extras: { hint: expect.stringMatching(/^Start this node with a release without this fault\. /) },
      })
      expect(warned.mock.calls).toEqual([[expect.stringContaining('TypeError: this state has no members')]])
      await expect(b!.reopen()).rejects.toMatchObject({
        message: `${says}: start this node with a release without this fault`,
        cause: expect.objectContaining({ message: 'this state has no members' }),
      })
    } finally {
      for (const spy of [fold, warned]) spy.mockRestore()
    }
    await b!.reopen()
    await newest(b!.log)
    await expectSame([a!, b!])
  }))

test.each([
  ['fields', (text: string) => text.replace(/"source":"\w+"/, '"source":"telepathy"')],
  ['rules', (text: string) => text.replace(/"stream":"[^"]+"/, '"stream":"0190a000-0000-7000-8000-00000000abcd"')],
])('an event of a newer release with other %s stops a node as well, and the node names the release that it needs', (_, change) =>
  withNodes(1, async ([a], url) => {
    await a!.log.submit(writes(projectCreated(1)))
    await noteReleases(url, '0.10.0', '0.10.0-rc.1', '0.9.0')
    await appendNewer(url, a!, change)
    const cause = async () => (await a!.log.health()).unwritable ?? ''
    await until(async () => (await cause()).endsWith(': other nodes run the release 0.10.0'))
    expect(await cause()).toMatch(/^a newer release(?:, with other rules,)? wrote the event at position 2, of the type ProjectCreated: /)
    expect((await a!.log.health()).shared).toMatchObject({ state: 'outdated' })
    await expect(a!.log.submit(writes(projectCreated(3)))).rejects.toMatchObject({
      code: 'storage_failed',
      extras: { hint: expect.stringContaining('Start this node with the release 0.10.0, which other nodes run.') },
    })
    expect((await a!.log.readAll(0, 10)).map(({ position }) => position)).toEqual([1])
    await expect(a!.reopen()).rejects.toThrow('ProjectCreated: start this node with the release 0.10.0, which other nodes run')
  }),
)
