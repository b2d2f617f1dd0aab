import { describe, expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { undoAll } from '../../../src/basics/undo.js'
import { forgetNode, Nodes } from '../../../src/log/shared/nodes.js'
import { Link, SharedLogSession } from '../../../src/log/shared/postgres/shared-log-session.js'
import { openTables } from '../../../src/log/shared/postgres/tables.js'
import { mindledger } from '../../support/cli.js'
import { logServer } from '../../support/log/each-log.js'
import { rowsIn } from '../../support/log/nodes.js'
import { until, whenReached } from '../../support/until.js'

const { server } = logServer()
const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }

type Opened = { node: (id: string, at?: { seq: number; position: number }) => Nodes; run: (sql: string) => Promise<unknown>; url: string }

/** Runs a test on the table of nodes of a new log. */
const withTable = async (test: (opened: Opened) => Promise<void>): Promise<void> => {
  const url = await server().newUrl()
  const undo: (() => unknown)[] = []
  try {
    const session = await whenReached(() => SharedLogSession.open(url))
    undo.push(() => session.close())
    await openTables(session, randomUUID)
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    undo.push(() => client.end())
    const node = (id: string, at = { seq: 0, position: 0 }) => {
      const link = new Link(url)
      undo.push(() => link.close())
      const nodes = new Nodes({
        link,
        id,
        run: randomUUID(),
        version: '1.2.3',
        place: () => at,
        unwritable: () => (id === 'full' ? 'the disk is full' : undefined),
      })
      undo.push(() => nodes.stop())
      return nodes
    }
    await test({ node, run: (sql) => client.query(sql), url })
  } finally {
    await undoAll(undo)
  }
}

/** As if nothing had been heard of a node for so long. */
const silent = (id: string, seconds: number) =>
  `UPDATE mindledger.nodes SET seen_at = clock_timestamp() - interval '${seconds} seconds' WHERE id = '${id}'`

describe('nodes of a log', () => {
  test('know each other, where each serves, and how far it is', () =>
    withTable(async ({ node, run }) => {
      const [a, b] = [node('a'), node('b', { seq: 3, position: 7 })]
      await a.begin()
      await b.begin()
      await a.serveAt('http://a:1')
      await run('UPDATE mindledger.head SET seq = 5')
      const about = { version: '1.2.3', state: 'alive', unwritable: null }
      expect(await b.list()).toEqual([
        {
          ...about,
          id: 'a',
          run: a.run,
          address: 'http://a:1',
          position: 0,
          lag: 5,
          ahead: 0,
          seenAt: expect.any(Date),
          startedAt: expect.any(Date),
        },
        {
          ...about,
          id: 'b',
          run: b.run,
          address: null,
          position: 7,
          lag: 2,
          ahead: 7,
          seenAt: expect.any(Date),
          startedAt: expect.any(Date),
        },
      ])
      expect(await a.alive()).toEqual(new Set(['a', 'b']))
    }))

  test('say why they cannot write, also in a log whose table an older release made', () =>
    withTable(async ({ node, run, url }) => {
      await run('ALTER TABLE mindledger.nodes DROP COLUMN unwritable')
      const session = await whenReached(() => SharedLogSession.open(url))
      await openTables(session, randomUUID)
      await session.close()
      await node('full').begin()
      const a = node('a')
      await a.begin()
      expect((await a.list()).map(({ unwritable }) => unwritable)).toEqual(['the disk is full', null])
    }))

  test('beat by themselves, and say when they stop', () =>
    withTable(async ({ node, run }) => {
      const [a, b] = [node('a'), node('b')]
      await a.begin()
      await b.begin()
      await run(silent('a', 3_600))
      await until(async () => (await b.list())[0]?.state === 'alive')
      await a.stop()
      expect((await b.list()).map(({ state }) => state)).toEqual(['stopped', 'alive'])
      expect(await b.alive()).toEqual(new Set(['b']))
    }))

  test('are dead after a time of silence, for who has watched that long', () =>
    withTable(async ({ node, run }) => {
      const [a, b] = [node('a'), node('b')]
      await a.beat()
      await b.begin()
      await run(silent('a', 11))
      expect((await b.list()).map(({ state }) => state)).toEqual(['dead', 'alive'])
      expect(await b.alive()).toEqual(new Set(['a', 'b']))
      await until(async () => !(await b.alive()).has('a'))
      expect(await b.alive()).toEqual(new Set(['b']))
    }))

  test('that are forgotten leave no note of the files that they wiped; others keep theirs', () =>
    withTable(async ({ node, run, url }) => {
      for (const id of ['dead', 'old', 'stays']) {
        await node(id).beat()
        await run(`INSERT INTO mindledger.wipes VALUES ('${id}', 7)`)
      }
      await run(silent('dead', 3_600))
      await run(silent('old', 8 * 24 * 3_600))
      await forgetNode(url, 'dead')
      await node('another').beat()
      expect(await rowsIn(url, 'SELECT node FROM mindledger.wipes')).toEqual([{ node: 'stays' }])
    }))

  test('that were silent for days are not listed any more', () =>
    withTable(async ({ node, run }) => {
      await node('old').beat()
      await run(silent('old', 8 * 24 * 3_600))
      const a = node('a')
      await a.begin()
      expect((await a.list()).map(({ id }) => id)).toEqual(['a'])
      // Nodes run for months, and those that die meanwhile are forgotten, too.
      await node('later').beat()
      await run(silent('later', 8 * 24 * 3_600))
      await until(async () => (await a.list()).map(({ id }) => id).join() === 'a')
    }))

  test('that are dead can be forgotten; those that run or stopped stay', () =>
    withTable(async ({ node, run, url }) => {
      const forget = (id: string) => mindledger(['nodes', '--forget', id], { ...keys, LOG_URL: url })
      const [alive, stopped] = [node('alive'), node('stopped')]
      await alive.begin()
      await stopped.begin()
      await stopped.stop()
      await run(silent('stopped', 3_600))
      await node('dead').beat()
      await run(silent('dead', 3_600))
      const listed = await mindledger(['nodes'], { ...keys, LOG_URL: url })
      expect([listed.code, listed.out]).toEqual([1, expect.stringContaining('dead is dead')])
      for (const [id, says] of [
        ['alive', 'the node alive is alive: only a dead node can be forgotten'],
        ['stopped', 'the node stopped is stopped: only a dead node can be forgotten'],
        ['nobody', 'there is no node with the id nobody'],
      ] as const)
        expect(await forget(id)).toMatchObject({ code: 2, err: expect.stringContaining(says) })
      const forgotten = await forget('dead')
      expect([forgotten.code, forgotten.err]).toEqual([0, ''])
      expect((await alive.list()).map(({ id }) => id).sort()).toEqual(['alive', 'stopped'])
    }))

  test('go on when PostgreSQL was away', () =>
    withTable(async ({ node }) => {
      const a = node('a')
      await a.begin()
      await server().postgres.crash()
      await until(async () => (await a.list().catch(() => []))[0]?.state === 'alive')
    }))
})

describe('an id of a node', () => {
  test('is that of one process: a copy of its data directory does not start beside it', () =>
    withTable(async ({ node }) => {
      await node('a').begin()
      let refusal: unknown
      // A node that is not heard for a moment, as on a busy machine, loses its id to the next one, which then refuses others.
      await until(async () => {
        refusal = await node('a')
          .begin()
          .catch((error: unknown) => error)
        return refusal !== undefined
      })
      expect(String(refusal)).toContain('delete its file node.id')
    }))

  test('goes to the next run at once when the last one stopped, and soon when it was killed', () =>
    withTable(async ({ node }) => {
      const [first, second, third] = [node('a'), node('a'), node('a')]
      await first.begin()
      await first.stop()
      await second.beat()
      await third.begin()
      expect((await third.list()).map(({ run }) => run)).toEqual([third.run])
    }))

  test('that a later run took is not taken back: the earlier one hears of it', () =>
    withTable(async ({ node }) => {
      const first = node('a')
      let heard = 0
      first.onReplaced = () => heard++
      await first.beat()
      const later = node('a')
      await later.beat()
      await first.beat()
      await first.beat()
      expect(heard).toBe(1)
      expect((await later.list()).map(({ run }) => run)).toEqual([later.run])
    }))

  test('stays with its run when PostgreSQL lost the beats of it, and has that of an earlier run again', () =>
    withTable(async ({ node, run: runSql }) => {
      await node('a').beat()
      await runSql('CREATE TABLE backup AS SELECT * FROM mindledger.nodes')
      const later = node('a')
      let heard = 0
      later.onReplaced = () => heard++
      await later.beat()
      await runSql('DELETE FROM mindledger.nodes; INSERT INTO mindledger.nodes SELECT * FROM backup')
      await later.beat()
      await later.beat()
      expect(heard).toBe(0)
      expect((await later.list()).map(({ run }) => run)).toEqual([later.run])
    }))
})
