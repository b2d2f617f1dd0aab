import { expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logStream } from '../../../events/records/log.js'
import { originOf } from '../../../src/audit/tlog-checkpoint.js'
import { appendNote, HeadFile } from '../../../src/audit/head-file.js'
import { Heads } from '../../../src/audit/heads.js'
import { readHeads } from '../../../src/audit/kept-heads.js'
import { noteSigner } from '../../../src/audit/note-key.js'
import { givingBack } from '../../../src/files/shared/give-back.js'
import { openSharedStore, type SharedStore } from '../../../src/files/shared/open-store.js'
import { undoAll } from '../../../src/basics/undo.js'
import { SharedLogSession, UnreachableError } from '../../../src/log/shared/postgres/shared-log-session.js'
import { ForkError, Sequencer } from '../../../src/log/shared/sequencer.js'
import { ServerClock } from '../../../src/log/shared/server-clock.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { reappend } from '../../../src/migration/reappend.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { Vault } from '../../../src/vault/vault.js'
import { mindledger } from '../../support/cli.js'
import { password, startPostgres, startStandby, type Postgres } from '../../support/connections/postgres.js'
import { proxyTo } from '../../support/connections/proxy.js'
import { logServer, logServerOf } from '../../support/log/each-log.js'
import { origin, patiently, projectCreated, refusal, stream, temporaryDirectory, testKey, writes } from '../../support/log/log.js'
import { expectSame, loseAfter, loseBatches, newest, rowsIn, runSql, withNodesOf, type Node } from '../../support/log/nodes.js'
import { until, whenReached } from '../../support/until.js'
import { signalTo } from '../../support/processes.js'

const { server } = logServer()

type Pair = {
  a: Node
  b: Node
  primary: Postgres
  standby: Postgres
  /** The address of the log on one of the servers. */
  urlAt: (server: Postgres) => string
  /** Kills the primary, makes the standby the server, and leads the nodes there. */
  failOver: () => Promise<void>
}

/** Runs a test over a server of PostgreSQL and its standby. */
const withServers = async (run: (primary: Postgres, standby: Postgres) => Promise<void>): Promise<void> => {
  const undo: (() => unknown)[] = []
  try {
    const primary = await startPostgres()
    undo.push(() => primary.stop())
    const standby = await startStandby(primary)
    undo.push(() => standby.stop())
    await run(primary, standby)
  } finally {
    await undoAll(undo.reverse())
  }
}

/** Runs a test over two nodes that reach PostgreSQL by one address, behind which its standby takes its place. */
const withPair = (run: (pair: Pair) => Promise<void>): Promise<void> =>
  withServers(async (primary, standby) => {
    let inUse = primary.port
    const way = await proxyTo(
      () => inUse,
      () => undefined,
    )
    const failOver = async () => {
      await primary.kill()
      await standby.run('SELECT pg_promote()')
      inUse = standby.port
    }
    let name = ''
    const through = (url: string): string => {
      name = new URL(url).pathname
      return url.replace(String(primary.port), String(way.port))
    }
    const urlAt = ({ port }: Postgres): string => `postgres://postgres:${password}@127.0.0.1:${port}${name}`
    try {
      await withNodesOf(logServerOf(primary), 2, async ([a, b]) => run({ a: a!, b: b!, primary, standby, urlAt, failOver }), through)
    } finally {
      await way.stop()
    }
  })

/** Resolves when a standby has all that its primary wrote until now, databases included. */
const caughtUp = async ({ primary, standby }: Pick<Pair, 'primary' | 'standby'>): Promise<void> => {
  const [[written] = []] = await primary.rows('SELECT pg_current_wal_lsn()')
  await until(async () => (await standby.rows(`SELECT pg_last_wal_replay_lsn() >= '${written}'`))[0]?.[0] === 't')
}

const reappendFrom = ({ directory }: Node, url: string) =>
  reappend({ paths: dataPaths(directory), to: { url, s3: undefined }, onProgress: () => undefined })

/** The keys of a log, as the commands want them. */
const keys = { VAULT_KEY: testKey.toString('hex'), HEAD_KEY: 'cd'.repeat(32) }

const createProject = (project: string) => ({ type: 'CreateProject' as const, data: { project } })
const withKey = (key: string) => ({ idempotency: { key, request: 'r' } })

test('what a standby that was behind lacks is named by every node, and appended again from one of them', () =>
  withPair(async (pair) => {
    const { a, b, primary, standby, urlAt, failOver } = pair
    const sealed = a.vault.seal(Buffer.from('a secret'))
    const data = { project: stream(1), name: 's', type: 'sql', params: { key: { $secret: sealed.hash } } }
    await a.log.submit({ ...writes({ stream: stream(2), event: { type: 'SkillCreated', data } }), payloads: [sealed] })
    await a.log.submit(writes(projectCreated(3)))
    await caughtUp(pair)

    const [[sender] = []] = await primary.rows('SELECT pid FROM pg_stat_replication')
    signalTo(Number(sender), 'SIGSTOP')
    const first = await a.ledger.execute(createProject('lost'), origin, withKey('k'))
    const payloads = [{ hash: sealed.hash, replacement: null }]
    const erased = { what: 'secrets' as const, subject: 's', reason: null, payloads, blobs: [] }
    await b.log.submit(writes({ stream: logStream, event: { type: 'DataErased', data: erased } }))
    // The other one has less of what is lost.
    await newest(a.log)
    await b.log.close()
    await a.log.submit(writes(projectCreated(5)))
    const before = await a.log.head()
    const last = before.position

    await failOver()
    await until(async () => (await a.log.health()).unwritable?.includes(`positions 3 to ${last}`) === true)
    expect(await refusal(a.log.submit(writes(projectCreated(6))))).toBe('storage_failed')
    await expect(b.reopen()).rejects.toThrow('mindledger reappend')

    await a.log.close()
    expect(await reappendFrom(a, urlAt(standby))).toEqual({ first: 3, last, answers: 1, missing: [] })
    expect(await reappendFrom(a, urlAt(standby))).toEqual({ first: last + 1, last, answers: 0, missing: [] })
    await Promise.all([a.reopen(), b.reopen()])
    expect([await a.log.head(), await b.log.head()]).toEqual([before, before])
    const again = await patiently(() => b.ledger.execute(createProject('lost'), origin, withKey('k')))
    expect(again).toEqual({ ...first, repeated: true })
    expect(await refusal(b.ledger.execute(createProject('LOST'), origin))).toBe('already_exists')
    for (const { log } of [a, b]) expect(await log.payloadState(sealed.hash)).toEqual({ isErased: true, replacedBy: null, bytes: 0 })
    await a.log.submit(writes(projectCreated(7)))
    await b.log.submit(writes(projectCreated(8)))
    const fresh = temporaryDirectory()
    const log = await whenReached(() => SharedLog.open({ url: urlAt(standby), file: join(fresh.path, 'log.sqlite'), vault: a.vault }))
    expect((await log.head()).position).toBe(last + 2)
    await log.close()
    fresh.remove()
    await expectSame([a, b])
  }))

test('a standby that PostgreSQL waits for has all that was acknowledged', () =>
  withPair(async ({ a, b, primary, failOver }) => {
    await primary.run(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
    await primary.run('SELECT pg_reload_conf()')
    await until(async () => (await primary.rows('SELECT sync_state FROM pg_stat_replication'))[0]?.[0] === 'sync')
    const acknowledged: number[] = []
    let n = 0
    let isLost = false
    const write = async ({ log }: Node): Promise<void> => {
      while (n < 200)
        try {
          acknowledged.push(...(await log.submit(writes(projectCreated(++n)))).positions)
        } catch {
          // A busy PostgreSQL may refuse a write before that.
          if (isLost) return
        }
    }
    const writing = [a, a, a, b, b, b].map(write)
    await until(() => acknowledged.length > 20)
    isLost = true
    await failOver()
    await Promise.all(writing)
    await until(async () => (await a.log.health()).unwritable === undefined && (await b.log.health()).unwritable === undefined)
    await expectSame([a, b])
    const { position } = await a.log.head()
    expect(acknowledged.filter((each) => each > position)).toEqual([])
    expect(new Set(acknowledged).size).toBe(acknowledged.length)
  }))

test('nodes with a list of hosts find the one that takes writes, whatever its place in the list', () =>
  withServers(async (primary, standby) => {
    const listOf = (url: string, n: number): string => {
      const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`)
      return url.replace(/127\.0\.0\.1:\d+/, (n === 0 ? hosts : hosts.reverse()).join())
    }
    await withNodesOf(
      logServerOf(primary),
      2,
      async ([a, b]) => {
        await a!.log.submit(writes(projectCreated(1)))
        await b!.log.submit(writes(projectCreated(2)))
        await caughtUp({ primary, standby })
        await primary.kill()
        await until(async () => (await a!.log.health()).unwritable !== undefined)
        await expect(b!.reopen()).rejects.toThrow(`127.0.0.1:${standby.port}/log_1: it is a standby`)
        await standby.run('SELECT pg_promote()')
        await b!.reopen()
        await b!.log.submit(writes(projectCreated(3)))
        await until(async () => (await a!.log.health()).unwritable === undefined)
        await a!.log.submit(writes(projectCreated(4)))
        expect((await a!.log.head()).position).toBe(4)
        // The server that was replaced comes back, and takes writes.
        await primary.revive()
        for (const node of [a!, b!]) await node.reopen()
        await a!.log.submit(writes(projectCreated(5)))
        await b!.log.submit(writes(projectCreated(6)))
        expect((await b!.log.head()).position).toBe(6)
        await expectSame([a!, b!])
      },
      listOf,
    )
  }))

/** The address of a log on one of several servers, or on all of them. */
const addressOf = (url: string, ...servers: readonly { port: number }[]): string =>
  url.replace(/127\.0\.0\.1:\d+/, servers.map(({ port }) => `127.0.0.1:${port}`).join())

const countEvents = async (url: string): Promise<number | undefined> =>
  (await rowsIn<{ n: number }>(url, 'SELECT count(*)::int AS n FROM mindledger.events'))[0]?.n

test('a primary that was replaced and lives on is left with all sessions once a node knows of the new one', () =>
  withServers(async (primary, standby) => {
    const list = (url: string) => addressOf(url, primary, standby)
    await withNodesOf(
      logServerOf(primary),
      1,
      async ([a], url) => {
        await a!.log.submit(writes(projectCreated(1)))
        await caughtUp({ primary, standby })
        await standby.run('SELECT pg_promote()')
        // As each node does from time to time.
        await until(async () => {
          await SharedLogSession.meet(a!.url)
          return (await standby.rows('SELECT pg_is_in_recovery()'))[0]?.[0] === 'f'
        })
        await SharedLogSession.meet(a!.url)
        await patiently(() => a!.log.submit(writes(projectCreated(2))))
        expect([await countEvents(addressOf(url, primary)), await countEvents(addressOf(url, standby))]).toEqual([1, 2])
        await a!.log.submit(writes(projectCreated(3)))
        expect((await a!.log.health()).unwritable).toBeUndefined()
        await expectSame([a!])
      },
      list,
    )
  }))

test('a new primary that is slow does not make a node take the old one, nor count as forked', () =>
  withServers(async (primary, standby) => {
    await withNodesOf(
      logServerOf(primary),
      1,
      async ([a]) => {
        await a!.log.submit(writes(projectCreated(1)))
        await caughtUp({ primary, standby })
        await primary.kill()
        await standby.run('SELECT pg_promote()')
        await patiently(() => a!.log.submit(writes(projectCreated(2))))
        // Its connection that follows is open: one that is opened meanwhile may escape the freeze.
        await newest(a!.log)
        await primary.revive()
        const goOn = await standby.freeze()
        try {
          await until(async () => (await a!.log.health()).unwritable !== undefined)
          // It tries to reach the log again and again, and the old primary answers.
          for (let n = 0; n < 5; n++) expect(await refusal(a!.log.newest())).toBe('behind')
          expect((await a!.log.health()).shared?.state).toBe('unreachable')
        } finally {
          goOn()
        }
        await until(async () => (await a!.log.health()).unwritable === undefined, 5 * 60_000)
        await a!.log.submit(writes(projectCreated(3)))
        await expectSame([a!])
      },
      (url) => addressOf(url, primary, standby),
    )
  }))

test('an old primary that lacks the events of a node is away, and no fork, when the new one answers late', () =>
  withServers(async (primary, standby) => {
    await primary.run('CREATE DATABASE late')
    const url = `postgres://postgres:${password}@127.0.0.1:${primary.port}/late`
    const { path, remove } = temporaryDirectory()
    const log = await whenReached(() => SharedLog.open({ url, file: join(path, 'log.sqlite'), vault: new Vault(testKey) }))
    await log.submit(writes(projectCreated(1)))
    await log.close()
    remove()
    await caughtUp({ primary, standby })
    await standby.run('SELECT pg_promote()')
    // The first connection to the new primary gets no answer.
    const slow = await proxyTo(standby.port, (connection) => (connection === 1 ? { afterBytes: 0, then: 'swallow' } : undefined))
    const sequencer = new Sequencer(addressOf(url, primary, slow), new ServerClock())
    try {
      const place = { seq: 1_000, position: 1_000, chain: Buffer.alloc(32), batch: undefined }
      await expect(sequencer.after(place)).rejects.toBeInstanceOf(UnreachableError)
      // The new one lacks them, too, so that it is a fork.
      await expect(sequencer.after(place)).rejects.toBeInstanceOf(ForkError)
    } finally {
      await sequencer.close()
      await slow.stop()
    }
  }))

test('every node that runs names what PostgreSQL lost, and writes no more', () =>
  withNodesOf(server(), 3, async (nodes, url) => {
    for (let i = 1; i <= 5; i++) await nodes[i % 3]!.log.submit(writes(projectCreated(i)))
    for (const { log } of nodes) await newest(log)
    await loseAfter(url, 3)
    for (const { log } of nodes) {
      await until(async () => (await log.health()).unwritable?.includes('the positions 4 to 5 of this node') === true)
      expect(await refusal(log.submit(writes(projectCreated(6))))).toBe('storage_failed')
    }
    let listed: string[] = []
    // They tell it with their next beat.
    await until(async () => {
      const { code, out } = await mindledger(['nodes', '--json'], { ...keys, LOG_URL: url })
      listed = out.trim().split('\n')
      return code === 1 && listed.every((line) => line.includes('the positions 4 to 5 of this node') && line.includes('"alive"'))
    })
    for (const line of listed) expect(JSON.parse(line)).toMatchObject({ state: 'alive', position: 5, ahead: 2 })
    const { code, out } = await mindledger(['nodes'], { ...keys, LOG_URL: url })
    expect([code, out.match(/has 2 events that PostgreSQL lost: "mindledger reappend" restores them/g)]).toEqual([
      1,
      Array(3).fill(expect.any(String)),
    ])
  }))

test('nothing is appended once others wrote in the place of what was lost', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    for (let i = 1; i <= 5; i++) await a!.log.submit(writes(projectCreated(i)))
    await loseAfter(url, 3)
    const other = await another()
    await other.log.submit(writes(projectCreated(10)))
    await a!.log.close()
    await expect(reappendFrom(a!, url)).rejects.toThrow('others wrote up to position 4')
    expect((await other.log.head()).position).toBe(4)
  }))

test('nothing is appended beside a node that serves: it may be wrapping keys anew that would come back old', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    const sealed = a!.vault.seal(Buffer.from('a secret'))
    const data = { project: stream(1), name: 's', type: 'sql', params: { key: { $secret: sealed.hash } } }
    await a!.log.submit({ ...writes({ stream: stream(2), event: { type: 'SkillCreated', data } }), payloads: [sealed] })
    for (const n of [3, 4]) await a!.log.submit(writes(projectCreated(n)))
    await a!.log.close()
    await loseAfter(url, 2)
    const other = await another()
    const next = Buffer.alloc(32, 7)
    other.vault.add(next)
    await other.log.beginRotation(new Vault(next).keyId)
    const rewrap = async () => {
      for (let after: number | undefined = 0; after !== undefined;) after = await other.log.rewrapSome(after)
    }
    await rewrap()
    const keys = () => rowsIn(url, 'SELECT DISTINCT key_id AS key FROM mindledger.payloads')
    expect(await keys()).toEqual([{ key: new Vault(next).keyId }])

    await expect(reappendFrom(a!, url)).rejects.toThrow(`nodes serve this log: ${other.nodes.id}. End them`)
    expect(await keys()).toEqual([{ key: new Vault(next).keyId }])
    await other.log.close()
    expect(await reappendFrom(a!, url)).toMatchObject({ first: 3, last: 3 })
    // A rotation begins anew with each start.
    await other.reopen()
    await rewrap()
    expect(await keys()).toEqual([{ key: new Vault(next).keyId }])
    expect((await other.log.payload(sealed.hash))?.toString()).toBe('a secret')
  }))

test('nothing is appended when the master key is changed to one there and to another one here', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    const other = await another()
    for (const n of [1, 2]) await a!.log.submit(writes(projectCreated(n)))
    const begin = async ({ vault, log }: Node, bytes: number): Promise<void> => {
      const key = Buffer.alloc(32, bytes)
      vault.add(key)
      await log.beginRotation(new Vault(key).keyId)
    }
    await begin(a!, 7)
    await a!.log.close()
    await other.log.close()
    await loseAfter(url, 1)
    await runSql(url, `DELETE FROM mindledger.notes WHERE key = 'rotation'`)
    const third = await another()
    await begin(third, 8)
    await third.log.close()
    await expect(reappendFrom(a!, url)).rejects.toThrow('the lost events were not appended: PostgreSQL changes to the master key')
  }))

test('answers that were lost without any event are given back, and a node goes on with them', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    const reply = (body: string) => ({ status: 200, type: null, etag: null, body })
    await a!.log.submit(writes(projectCreated(1)))
    const keyed = a!.ledger.keyed(origin, withKey('k'))
    await a!.log.keepReply(keyed, reply('first'), 0)
    await a!.log.close()
    await loseBatches(url, 1)
    const b = await another()
    expect(await reappendFrom(a!, url)).toEqual({ first: 2, last: 1, answers: 1, missing: [] })
    expect(await reappendFrom(a!, url)).toEqual({ first: 2, last: 1, answers: 0, missing: [] })
    await a!.reopen()
    for (const { log } of [a!, b]) {
      await newest(log)
      expect(await patiently(() => log.replyTo(keyed))).toEqual(reply('first'))
    }
    await a!.log.submit(writes(projectCreated(2)))
    await expectSame([a!, b])
  }))

test('nothing is appended, and nothing said to be there, when others wrote more than was lost', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    for (let i = 1; i <= 3; i++) await a!.log.submit(writes(projectCreated(i)))
    await a!.log.close()
    await loseAfter(url, 2)
    const other = await another()
    for (const i of [10, 11, 12]) await other.log.submit(writes(projectCreated(i)))
    await expect(reappendFrom(a!, url)).rejects.toThrow('others wrote up to position 5')
  }))

test('contents are stored again from the folder of the node, and those that nobody has are named', () =>
  withNodesOf(server(), 1, async ([a], url) => {
    const folder = join(a!.directory, 'blobs')
    const { blobs, connections, close } = await openSharedStore({ url, s3: undefined }, { folder })
    try {
      const [kept, lost] = [await blobs.putBytes(Buffer.from('kept')), await blobs.putBytes(Buffer.from('lost'))]
      for (const [n, content] of [kept, lost].entries()) {
        const data = { name: `f${n}`, content, bytes: 4, row_count: 1, columns: [], original_name: null }
        await a!.log.submit(writes({ stream: stream(n + 1), event: { type: 'FileCreated', data } }))
      }
      await a!.log.close()
      await loseAfter(url, 0)
      await connections.query('DELETE FROM mindledger.blobs', [])
      rmSync(join(folder, lost))
      expect(await reappendFrom(a!, url)).toEqual({ first: 1, last: 2, answers: 0, missing: [lost] })
      rmSync(join(folder, kept))
      expect((await blobs.read(kept)).toString()).toBe('kept')
    } finally {
      await close()
    }
  }))

test('a PostgreSQL that is lost is made anew from one node, and the others follow and give back their contents', () =>
  withNodesOf(server(), 3, async ([a, b, c], lost) => {
    const contents: string[] = []
    const withStore = async <T>(node: Node, work: (store: SharedStore) => Promise<T>): Promise<T> => {
      const store = await openSharedStore({ url: node.url, s3: undefined }, { folder: join(node.directory, 'blobs') })
      try {
        return await work(store)
      } finally {
        await store.close()
      }
    }
    const put = async (node: Node, n: number): Promise<void> => {
      const content = await withStore(node, ({ blobs }) => blobs.putBytes(Buffer.from(`content ${n}`)))
      const data = { name: `f${n}`, content, bytes: 9, row_count: 1, columns: [], original_name: null }
      await node.log.submit(writes({ stream: stream(n), event: { type: 'FileCreated', data } }))
      contents.push(content)
    }
    const seal = async (n: number): Promise<string> => {
      const sealed = a!.vault.seal(Buffer.from(`secret ${n}`))
      const data = { project: stream(1), name: `s${n}`, type: 'sql', params: { key: { $secret: sealed.hash } } }
      await a!.log.submit({ ...writes({ stream: stream(n), event: { type: 'SkillCreated', data } }), payloads: [sealed] })
      return sealed.hash
    }
    const early = await a!.ledger.execute(createProject('early'), origin, withKey('early'))
    const erased = await seal(2)
    await put(a!, 3)
    await put(b!, 4)
    await newest(c!.log)
    // It misses a secret, an erasure, and an answer.
    await c!.log.close()
    const kept = await seal(5)
    const payloads = [{ hash: erased, replacement: null }]
    const erasure = { what: 'secrets' as const, subject: 's', reason: null, payloads, blobs: [] }
    await b!.log.submit(writes({ stream: logStream, event: { type: 'DataErased', data: erasure } }))
    const late = await b!.ledger.execute(createProject('late'), origin, withKey('late'))
    await put(b!, 6)
    await put(a!, 7)
    for (const { log } of [a!, b!]) await newest(log)
    const before = await a!.log.head()
    for (const { log, directory } of [a!, b!, c!]) {
      await log.close()
      writeFileSync(join(directory, 'FORMAT'), '1\n')
    }
    await server().postgres.run(`DROP DATABASE "${new URL(lost).pathname.slice(1)}" WITH (FORCE)`)

    const url = await server().newUrl()
    const env = { DATA_DIR: a!.directory, ...keys, LOG_URL: url }
    const refused = await mindledger(['migrate', '--to', url], env)
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('add --lost') })
    // The directory of a node does not have the contents that only others have stored and read.
    const moved = await mindledger(['migrate', '--to', url, '--lost'], env)
    expect(moved).toMatchObject({ code: 1, out: expect.stringContaining(`position ${before.position}, and 2 blobs`) })
    expect(moved.out).toContain(contents[1])

    for (const node of [a!, b!, c!]) {
      node.url = url
      await node.reopen()
    }
    // Nobody names it, and the new PostgreSQL does not know it.
    await withStore(c!, async ({ cache }) => {
      const file = cache.temporary()
      writeFileSync(file, 'unnamed')
      ;(await cache.take(file, createHash('sha256').update('unnamed').digest('hex'))).release()
    })
    const giveBack = (node: Node, times = 1) =>
      withStore(node, async (store) => {
        const give = givingBack({ ...store, log: node.log, newest: () => newest(node.log) })
        let given = 0
        for (let n = 0; n < times; n++) given += await give(new AbortController().signal)
        return given
      })
    expect([await giveBack(a!), await giveBack(b!, 2), await giveBack(b!), await giveBack(c!, 2)]).toEqual([0, 2, 0, 0])
    expect(await c!.log.head()).toEqual(before)
    for (const { log, ledger } of [a!, b!, c!]) {
      expect(await log.payloadState(erased)).toEqual({ isErased: true, replacedBy: null, bytes: 0 })
      expect((await log.payload(kept))?.toString()).toBe('secret 5')
      const again = (name: string) => patiently(() => ledger.execute(createProject(name), origin, withKey(name)))
      expect(await again('early')).toEqual({ ...early, repeated: true })
      expect(await again('late')).toEqual({ ...late, repeated: true })
    }
    const texts = []
    for (const content of contents) texts.push((await withStore(c!, ({ blobs }) => blobs.read(content))).toString())
    expect(texts).toEqual([3, 4, 6, 7].map((n) => `content ${n}`))
    await c!.log.submit(writes(projectCreated(8)))
    await expectSame([a!, b!, c!])
  }))

test('an answer that a node kept is not given again once PostgreSQL lost it', () =>
  withNodesOf(server(), 1, async ([a], url) => {
    await a!.ledger.execute(createProject('first'), origin)
    await a!.ledger.execute(createProject('lost'), origin, withKey('k'))
    await loseAfter(url, 1)
    await expect(a!.ledger.execute(createProject('lost'), origin, withKey('k'))).rejects.toMatchObject({ code: 'storage_failed' })
  }))

test('the command says what it did, and what stands in its way', () =>
  withNodesOf(server(), 1, async ([a], url) => {
    for (let i = 1; i <= 5; i++) await a!.log.submit(writes(projectCreated(i)))
    await loseAfter(url, 3)
    await a!.log.close()
    writeFileSync(join(a!.directory, 'FORMAT'), '1\n')
    const run = (env: Record<string, string>) => mindledger(['reappend'], { DATA_DIR: a!.directory, ...keys, ...env })
    expect(await run({})).toMatchObject({ code: 2, err: expect.stringContaining('LOG_URL') })
    expect(await run({ LOG_URL: url })).toMatchObject({ code: 0, out: expect.stringContaining('positions 4 to 5') })
    expect(await run({ LOG_URL: url })).toMatchObject({ code: 0, out: expect.stringContaining('has all events') })
  }))

test('a node whose events PostgreSQL lost signs no head any more, neither at its stop nor for a client', () =>
  withNodesOf(server(), 1, async ([a], url) => {
    const { log, ledger } = a!
    const path = join(a!.directory, 'heads.txt')
    const heads = new Heads(log, noteSigner(originOf(log.id), Buffer.alloc(32, 1)))
    const headFile = new HeadFile({ path, intervalMs: 3_600_000, log, heads, logger: { error: () => undefined } })
    await ledger.execute(createProject('kept'), origin)
    await headFile.start()
    for (const name of ['lost', 'lost too']) await ledger.execute(createProject(name), origin)
    expect(readHeads(path).map(({ head }) => head.position)).toEqual([1])
    await loseAfter(url, 1)
    await until(async () => (await log.health()).shared?.state === 'other_log')
    await headFile.stop()
    expect(readHeads(path).map(({ head }) => head.position)).toEqual([1])
    await expect(heads.at(3)).rejects.toMatchObject({ status: 503, code: 'behind', detail: expect.stringContaining('positions 2 to 3') })
  }))

test('who takes over the file of heads does not go on in it when the log lost events that it shows', () =>
  withNodesOf(server(), 1, async ([a], url, another) => {
    const path = join(a!.directory, 'heads.txt')
    const said: object[] = []
    const logger = { error: (found: object) => void said.push(found) }
    const headFileOf = ({ log }: Node) =>
      new HeadFile({ path, intervalMs: 3_600_000, log, heads: new Heads(log, noteSigner(originOf(log.id), Buffer.alloc(32, 1))), logger })
    const positions = () => readHeads(path).map(({ head }) => head.position)
    await a!.ledger.execute(createProject('kept'), origin)
    const first = headFileOf(a!)
    await first.start()
    for (const name of ['lost', 'lost too']) await a!.ledger.execute(createProject(name), origin)
    await first.stop()
    expect([positions(), first.warning()]).toEqual([[1, 3], undefined])
    await a!.log.close()
    await loseAfter(url, 1)
    const b = await another()
    for (const words of [
      'it has a head of position 3, and the log ends at 1',
      'its head of position 3 is one of another history of this log',
    ]) {
      const second = headFileOf(b)
      await second.start()
      expect([second.warning(), second.status().error]).toEqual([expect.stringContaining(words), words])
      await second.stop()
      for (const name of ['other', 'others', 'more']) await b.ledger.execute(createProject(name), origin).catch(() => undefined)
    }
    expect(positions()).toEqual([1, 3])
    expect(said).toHaveLength(2)
    // Also a newer head of this history does not hide the other one.
    const { position } = await b.log.head()
    await appendNote(path, await new Heads(b.log, noteSigner(originOf(b.log.id), Buffer.alloc(32, 1))).at(position))
    await expect(headFileOf(b).compare()).rejects.toThrow('its head of position 3 is one of another history')
  }))
