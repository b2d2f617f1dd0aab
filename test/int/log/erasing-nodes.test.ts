import { describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { logStream } from '../../../events/records/log.js'
import { isProblem, Problem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import { Erasures } from '../../../src/erasure/erasures.js'
import { Blobs } from '../../../src/files/blobs.js'
import { KeyRotation } from '../../../src/key-rotation/key-rotation.js'
import type { Wipes } from '../../../src/log/contract/wipes.js'
import { SharedWipes } from '../../../src/log/shared/wipes.js'
import { prepareDataDirectory } from '../../../src/setup/data-directory.js'
import { Vault } from '../../../src/vault/vault.js'
import { logServer } from '../../support/log/each-log.js'
import { origin, patiently, refusal, stream, testKey, writes } from '../../support/log/log.js'
import { endSessions, newest, rowsIn, runSql, withNodesOf, type Node } from '../../support/log/nodes.js'
import { tracesInFiles } from '../../support/observe/traces.js'
import { until } from '../../support/until.js'

const { server } = logServer()

const unexpected: unknown[] = []
const onFailed = (error: unknown) => void unexpected.push(error)

/** The erasures of a node, whose tables are purged when `purge` says so. */
const erasuresOf = (
  { ledger, log, directory, peers }: Node,
  purge: (erasedAt: () => Promise<number>) => Promise<void> = async () => undefined,
): Erasures => new Erasures({ ledger, log, blobs: new Blobs(join(directory, 'blobs')), wipes: peers.wipes, purge })

const writeSecret = async ({ ledger, log, vault }: Node, name: string, text: string): Promise<string> => {
  const project = { type: 'CreateProject', data: { project: 'shop', unlessExists: true } } as const
  await ledger.execute(project, origin)
  const skill = { type: 'CreateSkill' as const, data: { project: 'shop', skill: name, type: 'sql', params: { password: text } as never } }
  await ledger.execute(skill, origin)
  expect(vault.keyId).toBeDefined()
  await newest(log)
  const found = await log.resources.one('skill', name, await log.resources.one('project', 'shop'))
  return (found?.state.params as { password: { $secret: string } }).password.$secret
}

/** Bytes of a payload and of its key, as they stand in the file of a node. */
const sealedIn = ({ file }: Node, hash: string): Buffer[] => {
  const db = new Database(file, { readonly: true })
  const row = db.prepare<[string], { wrapped: Buffer; body: Buffer }>('SELECT wrapped, body FROM payloads WHERE hash = ?').get(hash)
  db.close()
  return row ? [row.wrapped.subarray(0, 12), row.body.subarray(12, 24)] : []
}

const secretsOf = (name: string) => ({
  subject: { what: 'secrets' as const, of: { kind: 'skill' as const, name, project: 'shop' } },
  ...{ reason: null, shared: false, dryRun: false },
})

describe('an erasure', () => {
  test('is answered when all living nodes have it out of their files; one that starts wipes first', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      const hash = await writeSecret(a!, 's', 'a secret text')
      await newest(b!.log)
      const traces = sealedIn(b!, hash)
      for (const { file } of [a!, b!]) expect(tracesInFiles([file, `${file}-wal`], traces)).not.toEqual([])
      const [first, second] = [erasuresOf(a!), erasuresOf(b!)]
      await first.follow(onFailed)
      // The erasure looks for nodes that have not wiped, again and again: each look after the first one found some.
      const { nodes } = a!
      const alive = nodes.alive.bind(nodes)
      let looks = 0
      nodes.alive = () => {
        looks += 1
        return alive()
      }
      let isAnswered = false
      const erasing = first.erase(secretsOf('s'), origin).then((erased) => {
        isAnswered = true
        return erased
      })
      await until(async () => (await b!.log.erasedAt()) > 0)
      await until(() => isAnswered || looks > 3)
      // The second node lives, and has not said that it wiped.
      expect(isAnswered).toBe(false)
      await second.follow(onFailed)
      expect((await erasing).payloads).toBe(1)
      expect(await b!.log.payload(hash)).toBeUndefined()
      for (const { file } of [a!, b!]) expect(tracesInFiles([file, `${file}-wal`], traces)).toEqual([])
      await Promise.all([first.stop(), second.stop()])
      expect(unexpected).toEqual([])
    }))

  test('that was wiped asks at a start for nothing newer: tables that were begun since then need no copy', () =>
    withNodesOf(server(), 1, async ([a]) => {
      await writeSecret(a!, 's', 'x')
      const erasures = erasuresOf(a!)
      await erasures.follow(onFailed)
      await erasures.erase(secretsOf('s'), origin)
      await erasures.stop()
      await writeSecret(a!, 'later', 'y')
      const purges: number[] = []
      const again = erasuresOf(a!, async (erasedAt) => void purges.push(await erasedAt()))
      await again.follow(onFailed)
      await again.stop()
      expect(purges).toEqual([await a!.log.erasedAt()])
      expect(purges[0]).toBeLessThan((await a!.log.head()).position)
    }))

  test('that a failover kept is answered although PostgreSQL lost the notes of the nodes: they note it again', () =>
    withNodesOf(server(), 2, async ([a, b], url) => {
      await writeSecret(a!, 's', 'x')
      await newest(b!.log)
      const all = [erasuresOf(a!), erasuresOf(b!)]
      for (const each of all) await each.follow(onFailed)
      await all[0]!.erase(secretsOf('s'), origin)
      await runSql(url, 'DELETE FROM mindledger.wipes')
      await endSessions(server().postgres, 1_000)
      await until(async () => (await rowsIn(url, 'SELECT FROM mindledger.wipes')).length === 2, 60_000)
      expect(await patiently(() => all[0]!.erase(secretsOf('s'), origin))).toMatchObject({ payloads: 0, already_erased: 1 })
      for (const each of all) await each.stop()
    }))

  test('is not noted again by a node whose event another one took the place of', () =>
    withNodesOf(server(), 1, async ([a], url) => {
      await writeSecret(a!, 's', 'x')
      let chain: Buffer = Buffer.alloc(32)
      const wipes = new SharedWipes({ way: a!.log.link, nodes: a!.nodes, chainAt: () => chain })
      await wipes.wiped(1)
      await runSql(url, 'DELETE FROM mindledger.wipes')
      const rows = () => rowsIn<{ position: number }>(url, 'SELECT position::int FROM mindledger.wipes')
      const session = await a!.log.link.session()
      await wipes.noteAgain(session)
      expect(await rows()).toEqual([])
      const [own] = await rowsIn<{ chain: Buffer }>(url, 'SELECT chain FROM mindledger.events WHERE position = 1')
      chain = own?.chain ?? chain
      await wipes.noteAgain(session)
      expect(await rows()).toEqual([{ position: 1 }])
    }))

  test('of many events is wiped at once: what comes while a node wipes is wiped together', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      const purges: number[] = []
      let goOn: () => void = () => undefined
      const purge = async (erasedAt: () => Promise<number>) => {
        if (purges.push(await erasedAt()) === 1) await new Promise<void>((resolve) => (goOn = resolve))
      }
      const erasures = erasuresOf(b!, purge)
      await erasures.follow(onFailed)
      for (let n = 0; n < 5; n++) {
        const data = { what: 'file' as const, subject: 'f', reason: null, payloads: [], blobs: [randomBytes(32).toString('hex')] }
        await a!.ledger.execute({ type: 'EraseData', data }, origin)
        if (n === 0) await until(() => purges.length === 1)
      }
      await newest(b!.log)
      const last = await b!.log.erasedAt()
      goOn()
      await until(
        async () =>
          (await rowsIn<{ n: number }>(a!.url, `SELECT count(*)::int AS n FROM mindledger.wipes WHERE position >= ${last}`))[0]?.n === 1,
      )
      await erasures.stop()
      expect(purges).toEqual([purges[0], last])
      expect(unexpected).toEqual([])
    }))

  test('is not kept waiting by a node that stopped', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      await writeSecret(a!, 's', 'x')
      await b!.nodes.stop()
      const first = erasuresOf(a!)
      await first.follow(onFailed)
      expect((await first.erase(secretsOf('s'), origin)).payloads).toBe(1)
      // A second time there is nothing to erase, and all have wiped.
      expect(await first.erase(secretsOf('s'), origin)).toMatchObject({ payloads: 0, already_erased: 1 })
      await first.stop()
    }))

  test('is acknowledged by its event, and by a command with nothing to do if it has none', () =>
    withNodesOf(server(), 1, async ([a]) => {
      await writeSecret(a!, 's', 'x')
      const erasures = erasuresOf(a!)
      await erasures.follow(onFailed)
      const { log } = a!
      const submit = log.submit.bind(log)
      const acknowledged: (readonly number[])[] = []
      log.submit = async (submission) => {
        const outcome = await submit(submission)
        acknowledged.push(outcome.positions)
        return outcome
      }
      const { positions } = await erasures.erase(secretsOf('s'), origin)
      expect(acknowledged).toEqual([positions])
      await erasures.erase(secretsOf('s'), origin)
      expect(acknowledged).toEqual([positions, []])
      await erasures.stop()
    }))

  test('of a content is one event, although the bytes are there until all is recorded', () =>
    withNodesOf(server(), 1, async ([a]) => {
      const blobs = new Blobs(join(a!.directory, 'blobs'))
      const content = await blobs.putBytes(Buffer.from('rows of somebody'))
      const data = {
        file: 'f',
        content: { content, bytes: 16, row_count: 1, columns: [{ name: 'a', type: 'BIGINT' }], original_name: null },
      }
      await a!.ledger.execute({ type: 'CreateFile', data }, origin)
      const erasures = erasuresOf(a!)
      await erasures.follow(onFailed)
      const request = { subject: { what: 'file' as const, of: { name: 'f' } }, reason: null, shared: false, dryRun: false }
      expect(await erasures.erase(request, origin)).toMatchObject({ blobs: [content], positions: [expect.any(Number)] })
      expect(await blobs.has(content)).toBe(false)
      await erasures.stop()
    }))

  test('takes kept answers with rows away in batches that other nodes can read, however many there are', () =>
    withNodesOf(server(), 2, async ([a, b], url) => {
      const count = 2 * limits.sharedErasedRepliesMax + 10
      const keyed = (n: number) => a!.ledger.keyed(origin, { idempotency: { key: `k${n}`, request: 'r' } })
      const answer = (n: number) => ({ status: 200, type: null, etag: null, body: `row ${n}`, ...(n % 2 === 0 && { rows: true as const }) })
      await Promise.all(Array.from({ length: count }, (_, n) => patiently(() => a!.log.keepReply(keyed(n), answer(n), 0))))
      const [{ n: before } = { n: 0 }] = await rowsIn<{ n: number }>(url, 'SELECT seq::int AS n FROM mindledger.head')
      const blobs = new Blobs(join(a!.directory, 'blobs'))
      const content = await blobs.putBytes(Buffer.from('rows of somebody'))
      const data = { file: 'f', content: { content, bytes: 16, row_count: 1, columns: [], original_name: null } }
      await a!.ledger.execute({ type: 'CreateFile', data }, origin)
      const all = [erasuresOf(a!), erasuresOf(b!)]
      for (const each of all) await each.follow(onFailed)
      await all[0]!.erase({ subject: { what: 'file', of: { name: 'f' } }, reason: null, shared: false, dryRun: false }, origin)
      const written = await rowsIn<{ n: number }>(
        url,
        `SELECT count(*)::int AS n FROM mindledger.answers WHERE seq > ${before} GROUP BY seq ORDER BY n DESC`,
      )
      expect(written.reduce((sum, { n }) => sum + n, 0)).toBe(count / 2)
      expect(written[0]?.n).toBeLessThanOrEqual(limits.sharedErasedRepliesMax)
      await newest(b!.log)
      for (const { log } of [a!, b!]) {
        const replies = await Promise.all(Array.from({ length: count }, (_, n) => patiently(() => log.replyTo(keyed(n)))))
        expect(replies.map((reply) => reply?.status)).toEqual(Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 410 : 200)))
      }
      for (const each of all) await each.stop()
    }))

  test('refuses what another node records of what it rests on, however late that comes', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      await writeSecret(a!, 's', 'x')
      const [first, second] = [erasuresOf(a!), erasuresOf(b!)]
      await Promise.all([first.follow(onFailed), second.follow(onFailed)])
      await newest(b!.log)
      const project = (name: string) => ({ type: 'CreateProject' as const, data: { project: name } })
      const late = await refusal(
        second.beside(origin, async (guarded) => {
          await b!.ledger.execute(project('before'), guarded)
          await first.erase(secretsOf('s'), origin)
          return b!.ledger.execute(project('after'), guarded)
        }),
      )
      expect(late).toBe('busy')
      expect((await b!.log.resources.list('project')).map(({ state }) => state.name)).toEqual(['shop', 'before'])
      await Promise.all([first.stop(), second.stop()])
    }))

  test('that another one overtakes is planned again: what stays is what both leave', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      const names = Array.from({ length: 6 }, (_, i) => `s${i}`)
      for (const name of names) await writeSecret(a!, name, `secret of ${name}`)
      const [first, second] = [erasuresOf(a!), erasuresOf(b!)]
      await Promise.all([first.follow(onFailed), second.follow(onFailed)])
      await newest(b!.log)
      const all = await Promise.all(names.flatMap((name) => [first, second].map((erasures) => erasures.erase(secretsOf(name), origin))))
      expect(all.reduce((sum, { payloads }) => sum + payloads, 0)).toBe(names.length)
      expect(await a!.log.streamVersion(logStream)).toBe(names.length)
      await Promise.all([first.stop(), second.stop()])
      expect(unexpected).toEqual([])
    }))

  test('that another one overtakes with all of it waits for the nodes, too', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      await writeSecret(a!, 's', 'x')
      await newest(b!.log)
      const awaited: number[] = []
      const wipes = { wiped: async () => undefined, everywhere: async (position: number) => void awaited.push(position) }
      const [first, second] = [a!, b!].map((node) => erasuresOf({ ...node, peers: { ...node.peers, wipes } }))
      const execute = b!.ledger.execute.bind(b!.ledger)
      b!.ledger.execute = async (...given) => {
        b!.ledger.execute = execute
        await first!.erase(secretsOf('s'), origin)
        return execute(...given)
      }
      expect(await second!.erase(secretsOf('s'), origin)).toMatchObject({ payloads: 0, positions: [], already_erased: 1 })
      const erasedAt = await b!.log.erasedAt()
      expect(awaited).toEqual([erasedAt, erasedAt])
    }))
})

describe('a rotation of the master key', () => {
  const rotationOf = ({ log, ledger, vault, peers, directory }: Node, wipes: Wipes = peers.wipes): KeyRotation =>
    new KeyRotation({
      ...{ log, ledger, vault, peers: { ...peers, wipes }, onFailed, lookMs: 20 },
      ...{ paths: prepareDataDirectory(join(directory, 'data')), isKeyGiven: true, tellReaders: async () => undefined },
    })
  const next = randomBytes(32)

  /** Runs a test over nodes that rotate and erase. */
  const withRotations = (run: (nodes: [Node, Node], rotations: [KeyRotation, KeyRotation]) => Promise<void>) =>
    withNodesOf(server(), 2, async ([a, b]) => {
      const [nodes, rotations] = [[a!, b!] as [Node, Node], [rotationOf(a!), rotationOf(b!)] as [KeyRotation, KeyRotation]]
      const erasures = nodes.map((node) => erasuresOf(node))
      for (const one of [...rotations.map((rotation) => rotation.resume()), ...erasures.map((one) => one.follow(onFailed))]) await one
      try {
        await run(nodes, rotations)
      } finally {
        await Promise.all([...rotations, ...erasures].map((one) => one.stop()))
      }
      expect(unexpected).toEqual([])
    })

  test('begins when all living nodes have the next key, and ends for all of them', () =>
    withRotations(async ([a, b], [first, second]) => {
      const hash = await writeSecret(a, 's', 'a secret')
      const early = await first.begin(origin, next).catch((error: unknown) => error)
      expect(isProblem(early) && [early.code, early.detail.includes(b.nodes.id), early.detail.includes(a.nodes.id)]).toEqual([
        'not_ready',
        true,
        false,
      ])
      expect(await a.log.rotation()).toBeUndefined()
      await second.begin(origin, next)
      await second.ended
      await until(() => a.vault.keys().length === 1)
      for (const node of [a, b]) {
        await newest(node.log)
        expect(node.vault.keys()).toEqual([next])
        expect((await node.log.payload(hash))?.toString()).toBe('"a secret"')
      }
      await until(() => typeof first.status?.position === 'number' && first.status.position === second.status?.position)
      expect(second.status?.position).toBe(await a.log.streamVersion(logStream).then(async () => (await a.log.head()).position))
      // What is sealed from now on is sealed with the new key, on each node.
      const later = await writeSecret(a, 'later', 'another')
      await newest(b.log)
      expect((await b.log.payload(later))?.toString()).toBe('"another"')
    }))

  test('keeps the next key that a node has promised to have, and lets no node count on a key that is forgotten', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      const [first, second, erasures] = [rotationOf(a!), rotationOf(b!), [erasuresOf(a!), erasuresOf(b!)]]
      const hash = await writeSecret(a!, 's', 'a secret')
      await second.resume()
      for (const one of erasures) await one.follow(onFailed)
      const last = randomBytes(32)
      try {
        expect(await refusal(first.begin(origin, next))).toBe('not_ready')
        await second.begin(origin, next)
        await second.ended
        await newest(a!.log)
        // This node has not noticed the end of the rotation yet.
        expect(await refusal(first.begin(origin, last))).toBe('not_ready')
        await first.resume()
        expect(a!.vault.keys()).toEqual([next, last])
        const lacking = await a!.peers.keys.lacking(new Vault(testKey).keyId)
        expect(lacking.toSorted()).toEqual([a!.nodes.id, b!.nodes.id].toSorted())
        await second.begin(origin, last)
        await second.ended
        await until(() => a!.vault.keys().length === 1)
        expect(a!.vault.keys()).toEqual([last])
        await newest(a!.log)
        expect((await a!.log.payload(hash))?.toString()).toBe('"a secret"')
      } finally {
        await Promise.all([first, second, ...erasures].map((one) => one.stop()))
      }
      expect(unexpected).toEqual([])
    }))

  test('leaves a payload whose key is damaged, which counts as erased then: no other node can read it', () =>
    withRotations(async ([a, b], [first, second]) => {
      const [lost, kept] = [await writeSecret(a, 'lost', 'a secret'), await writeSecret(a, 'kept', 'another')]
      await newest(b.log)
      for (const { file } of [a, b]) {
        const db = new Database(file)
        db.prepare('UPDATE payloads SET wrapped = zeroblob(length(wrapped)) WHERE hash = ?').run(lost)
        db.close()
      }
      expect(await refusal(first.begin(origin, next))).toBe('not_ready')
      await second.begin(origin, next)
      await second.ended
      await until(() => a.vault.keys().length === 1)
      for (const { log } of [a, b]) {
        await newest(log)
        expect([await log.payload(lost), (await log.payload(kept))?.toString()]).toEqual([undefined, '"another"'])
      }
    }))

  test('that its node left is ended by another', () =>
    withRotations(async ([a, b], [, second]) => {
      const hash = await writeSecret(a, 's', 'a secret')
      for (const { vault } of [a, b]) vault.add(next)
      // As a node does that is ended just then.
      await a.log.beginRotation(a.vault.add(next))
      await until(() => second.status !== undefined && second.status.position !== null)
      await newest(a.log)
      expect((await a.log.payload(hash))?.toString()).toBe('"a secret"')
      expect(await a.log.rotation()).toBeUndefined()
    }))

  test('waits for a node that needs longer for its files than one look takes', () =>
    withNodesOf(server(), 1, async ([a]) => {
      let looks = 0
      const rotation = rotationOf(a!, {
        wiped: async () => undefined,
        everywhere: async () => {
          if (looks++ === 0) throw new Problem('busy', 'Not yet wiped', 'a node has it in its files')
        },
      })
      try {
        await rotation.resume()
        await rotation.begin(origin, next)
        await rotation.ended
        expect(rotation.status).toMatchObject({ position: expect.any(Number), error: null })
        expect(looks).toBe(2)
      } finally {
        await rotation.stop()
      }
    }))

  test('stops a node that lacks the key from writing, and no payload is sealed with the old one', () =>
    withNodesOf(server(), 2, async ([a, b]) => {
      await writeSecret(a!, 's', 'a secret')
      await newest(b!.log)
      await a!.log.beginRotation(a!.vault.add(next))
      const payload = b!.vault.seal(Buffer.from('late'))
      const data = { project: stream(1), name: 't', type: 't', params: { token: { $secret: payload.hash } } }
      const late = b!.log.submit({ ...writes({ stream: stream(99), event: { type: 'SkillCreated', data } }), payloads: [payload] })
      expect(await refusal(late)).toBe('storage_failed')
      // What others seal now is not erased: this node says that it cannot read it.
      const sealed = await writeSecret(a!, 'next', 'another')
      await newest(b!.log)
      expect(await refusal(b!.log.payload(sealed))).toBe('storage_failed')
      expect(await b!.log.payloadState(sealed)).toEqual({ isErased: false, replacedBy: null, bytes: expect.any(Number) })
      expect((await b!.log.health()).unwritable).toContain('is being changed')
      expect(await b!.log.peers.leases.take('work')).toBeUndefined()
      expect(b!.vault.keys()).toEqual([testKey])
      expect(await a!.log.payloadState(payload.hash)).toBeUndefined()
    }))
})
