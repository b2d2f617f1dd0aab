import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { logStream } from '../../../events/records/log.js'
import { headSigner } from '../../../src/audit/head-key.js'
import { takeBackup } from '../../../src/backup/backup.js'
import { limits } from '../../../src/basics/limits.js'
import { Blobs } from '../../../src/files/blobs.js'
import { isSamePlace } from '../../../src/log/shared/postgres/rows.js'
import { SharedLogSession } from '../../../src/log/shared/postgres/shared-log-session.js'
import { lookAt } from '../../../src/log/shared/postgres/statements.js'
import { Replica } from '../../../src/log/shared/replica.js'
import { Sequencer } from '../../../src/log/shared/sequencer.js'
import { ServerClock } from '../../../src/log/shared/server-clock.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { readLogId } from '../../../src/log/storage/schema.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { verifyShared } from '../../../src/cli/commands/verify-shared.js'
import { copyAll } from '../../../src/migration/copy-shared.js'
import { Sender } from '../../../src/migration/sender.js'
import { readConfig } from '../../../src/setup/config.js'
import { dataPaths, prepareDataDirectory } from '../../../src/setup/data-directory.js'
import { masterKeys } from '../../../src/vault/key-files.js'
import { Vault } from '../../../src/vault/vault.js'
import { mindledger } from '../../support/cli.js'
import { logServer } from '../../support/log/each-log.js'
import { Random } from '../../support/log/honest-log.js'
import { stream, temporaryDirectory, testKey, writes } from '../../support/log/log.js'
import { chained, changes, renumbered, type Row } from '../../support/log/manipulations.js'
import { newest } from '../../support/log/nodes.js'
import { until, whenReached } from '../../support/until.js'

const golden = fileURLToPath(new URL('../../../../test/golden/format-1', import.meta.url))
const { server } = logServer()
const place = temporaryDirectory()
afterAll(place.remove)

let url: string
let environment: Record<string, string>
let heads: string
const there = join(place.path, 'there')
/** Where the command works: other tests verify at the same time. */
const scratch = join(place.path, 'scratch')

beforeAll(async () => {
  mkdirSync(scratch)
  cpSync(golden, there, { recursive: true })
  const paths = prepareDataDirectory(there)
  const [vaultKey] = masterKeys(paths, [])
  const log = new SqliteLog({ file: paths.log, vault: new Vault(...masterKeys(paths, [])) })
  await headSigner(dataPaths(there), undefined, log)
  await log.close()
  heads = join(place.path, 'heads')
  writeFileSync(heads, (await mindledger(['head'], { DATA_DIR: there })).out)
  url = await server().newUrl()
  expect(await mindledger(['migrate', '--to', url], { DATA_DIR: there })).toMatchObject({ code: 0 })
  environment = {
    ...{ LOG_URL: url, DATA_DIR: there },
    VAULT_KEY: vaultKey.toString('hex'),
    HEAD_KEY: readFileSync(join(there, 'head.key'), 'utf8').trim(),
  }
})

/** A node of a log. These tests need every write, however long a busy machine takes for it. */
const openNode = (address: string, file: string, vault: Vault): Promise<SharedLog> =>
  whenReached(() => SharedLog.open({ url: address, file, vault, writePatienceMs: 120_000 }))

const runVerify = (address: string, ...args: string[]) =>
  mindledger(['verify', '--shared', ...args], { ...environment, LOG_URL: address, DATA_DIR: join(place.path, 'none'), TMPDIR: scratch })

/** A database with the same rows, in which everything may be changed. */
const copied = async (): Promise<{ address: string; run: (text: string, values?: unknown[]) => Promise<pg.QueryResult> }> => {
  const address = await server().newUrl()
  const [from, to] = [new URL(url).pathname.slice(1), new URL(address).pathname.slice(1)]
  await server().postgres.run(`DROP DATABASE ${to}`)
  await server().postgres.run(`CREATE DATABASE ${to} TEMPLATE ${from}`)
  const run = async (text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: address })
    await client.connect()
    try {
      return await client.query(text, values)
    } finally {
      await client.end()
    }
  }
  await run('ALTER TABLE mindledger.events DISABLE TRIGGER events_stay')
  return { address, run }
}

test('a log in PostgreSQL is verified without a node, and is proven by a head that was kept', async () => {
  const verified = await runVerify(url, '--head', heads)
  expect(verified).toMatchObject({ code: 0, err: '' })
  expect(verified.out).toMatch(/^The log holds: \d+ events/)
  expect(verified.out).toContain('by the head that was kept')
  expect(readdirSync(scratch).filter((name) => name.startsWith('mindledger-verify-'))).toEqual([])
  const { rows } = await (await copied()).run('SELECT count(*)::integer AS nodes FROM mindledger.nodes')
  expect(rows).toEqual([{ nodes: 0 }])
})

test('a database without a log, and no address, are told', async () => {
  expect(await runVerify(await server().newUrl())).toMatchObject({ code: 2, err: expect.stringContaining('this database has no log') })
  expect(await mindledger(['verify', '--shared'], { DATA_DIR: there })).toMatchObject({ code: 2, err: expect.stringContaining('LOG_URL') })
})

type Run = (text: string, values?: unknown[]) => Promise<pg.QueryResult>

/** Puts events in the place of those that are there. */
const store = async (run: Run, rows: readonly Row[]): Promise<void> => {
  const columns = [rows.map(({ position }) => position), rows.map(({ text }) => text), rows.map(({ chain }) => chain)]
  await run('DELETE FROM mindledger.events')
  await run('INSERT INTO mindledger.events (position, text, chain) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[])', columns)
}

/** Lets the batches and the head agree with the events, as somebody would who hides what was done. */
const end = async (run: Run): Promise<void> => {
  await run('UPDATE mindledger.batches AS b SET chain = e.chain FROM mindledger.events AS e WHERE e.position = b.position')
  await run('DELETE FROM mindledger.batches WHERE position > (SELECT max(position) FROM mindledger.events)')
  await run(`INSERT INTO mindledger.batches SELECT (SELECT max(seq) + 1 FROM mindledger.batches), gen_random_uuid(), position, chain, 0
    FROM mindledger.events ORDER BY position DESC LIMIT 1`)
  await run(`UPDATE mindledger.head AS h SET seq = b.seq, position = b.position, chain = b.chain
    FROM (SELECT * FROM mindledger.batches ORDER BY seq DESC LIMIT 1) AS b`)
}

/** How much somebody recomputes to hide what was done to the events. */
const finishes: Record<string, (run: Run, logId: string, rows: Row[]) => Promise<void>> = {
  'nothing else': (run, _, rows) => store(run, rows),
  'chain recomputed': async (run, logId, rows) => {
    chained(logId, rows)
    await store(run, rows)
    await end(run)
  },
  'everything recomputed but the signature': async (run, logId, rows) => {
    renumbered(rows)
    chained(logId, rows)
    await store(run, rows)
    await end(run)
  },
}

const random = new Random(7)

const ofEvents = Object.entries(changes).flatMap(([name, change]) =>
  Object.entries(finishes).map(([more, finish]): [string, (run: Run) => Promise<void>] => [
    `${name}, ${more}`,
    async (run) => {
      const { rows } = await run('SELECT position::integer AS position, text, chain FROM mindledger.events ORDER BY position')
      const { rows: heads } = await run('SELECT log_id FROM mindledger.head')
      change({ rows: rows as Row[], random })
      await finish(run, (heads as [{ log_id: string }])[0].log_id, rows as Row[])
    },
  ]),
)

const aPayload = '(SELECT min(hash) FROM mindledger.payloads WHERE wrapped IS NOT NULL)'

const statements: Record<string, string> = {
  'another end': `UPDATE mindledger.head SET chain = decode(repeat('00', 32), 'hex')`,
  'another log’s id': `UPDATE mindledger.head SET log_id = 'another'`,
  'an event put before the first': `INSERT INTO mindledger.events SELECT 0, text, chain FROM mindledger.events WHERE position = 1`,
  'an event put behind the last': `INSERT INTO mindledger.events SELECT max(position) + 1, min(text), min(chain) FROM mindledger.events`,
  'a payload’s ciphertext edited': `UPDATE mindledger.payloads SET body = set_byte(body, 0, 255 - get_byte(body, 0)) WHERE hash = ${aPayload}`,
  'a payload’s key edited': `UPDATE mindledger.payloads SET wrapped = set_byte(wrapped, 59, 255 - get_byte(wrapped, 59)) WHERE hash = ${aPayload}`,
  'a payload’s key taken away': `UPDATE mindledger.payloads SET wrapped = NULL WHERE hash = ${aPayload}`,
  'a payload erased without an event': `UPDATE mindledger.payloads SET wrapped = NULL, body = '' WHERE hash = ${aPayload}`,
  'a payload deleted': `DELETE FROM mindledger.payloads WHERE hash = ${aPayload}`,
  'a blob that is gone': 'DELETE FROM mindledger.blobs WHERE sha = (SELECT min(sha) FROM mindledger.blobs)',
  'the bytes of a blob': 'UPDATE mindledger.blob_chunks SET body = set_byte(body, 0, 255 - get_byte(body, 0)) WHERE number = 0',
}

/** Changes the text of one event, and recomputes the chain. */
const ofText = (change: (text: string) => string) => async (run: Run) => {
  const { rows: heads } = await run('SELECT log_id FROM mindledger.head')
  const { rows } = await run('SELECT position::integer AS position, text, chain FROM mindledger.events ORDER BY position')
  const changed = (rows as Row[]).map((row) => (row.position === 5 ? { ...row, text: change(row.text) } : row))
  await finishes['chain recomputed']?.(run, (heads as [{ log_id: string }])[0].log_id, changed)
}

const withMember = (member: object) => ofText((text) => JSON.stringify({ ...(JSON.parse(text) as object), ...member }))

const olderDump = async (run: Run): Promise<void> => {
  await run('DELETE FROM mindledger.events WHERE position > 30')
  await run('DELETE FROM mindledger.payloads WHERE NOT EXISTS (SELECT FROM mindledger.events WHERE strpos(text, hash) > 0)')
  await end(run)
}

const others: [string, (run: Run) => Promise<void>][] = [
  ['a text that cannot be read', ofText((text) => text.slice(0, 20))],
  ['an event of a type that nobody knows', withMember({ type: 'Unheard' })],
  ['an event of a schema version that nobody knows', withMember({ schema: 99 })],
  ['an event whose data does not fit', withMember({ data: { unheard: 1 } })],
  ['an older dump put back, with its payloads', olderDump],
]

const ofStatements = Object.entries(statements).map(([name, statement]): [string, (run: Run) => Promise<void>] => [
  name,
  async (run) => expect((await run(statement)).rowCount).toBeGreaterThan(0),
])

/** What the command says of a log, and its exit status; in this process, which is quicker. */
const verifyHere = async (address: string): Promise<{ code: number; out: string }> => {
  let out = ''
  const line = (text: string) => void (out += `${text}\n`)
  const config = readConfig({ ...environment, LOG_URL: address })
  const code = await verifyShared(config, { heads: [heads], vkey: undefined }, { line, progress: () => undefined })
  return { code, out }
}

test.each([...ofEvents, ...ofStatements, ...others])('it is found: %s', async (_, manipulate) => {
  const { address, run } = await copied()
  await manipulate(run)
  const { code, out } = await verifyHere(address)
  expect(code).toBe(1)
  expect(out).toMatch(/THE LOG DOES NOT HOLD|proves nothing/)
})

test('a content that another node erased since a node stopped is not missing; a backup waits for that node', async () => {
  const { address, run } = await copied()
  const [behind, other] = [prepareDataDirectory(join(place.path, 'behind')), prepareDataDirectory(join(place.path, 'other'))]
  const vault = new Vault(Buffer.from(environment['VAULT_KEY'] ?? '', 'hex'))
  const follow = ({ log: file }: typeof behind) => openNode(address, file, vault)
  await (await follow(behind)).close()
  const { rows } = await run('SELECT sha FROM mindledger.blobs ORDER BY sha LIMIT 2')
  const [erased, lost] = (rows as { sha: string }[]).map(({ sha }) => sha)
  const log = await follow(other)
  const data = { what: 'file' as const, subject: 'files.f', reason: null, payloads: [], blobs: [String(erased)] }
  await log.submit(writes({ stream: logStream, event: { type: 'DataErased', data } }))
  await log.close()
  await run('DELETE FROM mindledger.blobs WHERE sha = $1', [erased])
  const env = { ...environment, LOG_URL: address, DATA_DIR: behind.root }
  const backup = (name: string) => mindledger(['backup', '--into', join(place.path, name)], env)
  expect(await mindledger(['verify'], env)).toMatchObject({ code: 0, err: '' })
  expect(await backup('too early')).toMatchObject({ code: 2, err: expect.stringContaining('start this node, and try again') })
  await (await follow(behind)).close()
  expect(await backup('in time')).toMatchObject({ code: 0, err: '' })
  await run('DELETE FROM mindledger.blobs WHERE sha = $1', [lost])
  expect((await mindledger(['verify'], env)).out).toContain(`its blob ${lost} is missing`)
  expect((await backup('without')).err).toContain(`the blob ${lost} is missing, and was not erased`)
})

test('a node without the contents in its folder verifies, backs up and trains again from the store that nodes share', async () => {
  const node = join(place.path, 'node')
  mkdirSync(node)
  const paths = prepareDataDirectory(node)
  const key = Buffer.from(environment['VAULT_KEY'] ?? '', 'hex')
  const log = await openNode(url, paths.log, new Vault(key))
  await log.close()
  expect(readdirSync(paths.blobs)).toEqual([])
  const env = { ...environment, DATA_DIR: node }
  expect(await mindledger(['verify', '--head', heads], env)).toMatchObject({ code: 0, err: '' })
  const into = join(place.path, 'backup')
  const taken = await mindledger(['backup', '--into', into], env)
  expect(taken).toMatchObject({ code: 0, err: '' })
  expect(taken.out).toMatch(/and [1-9]\d* blobs/)
  // What it has is a log of its own, with its own contents, also where a node's environment names the shared one.
  const copied = join(place.path, 'spoiled')
  cpSync(into, copied, { recursive: true })
  const ofBackup = { ...environment, DATA_DIR: copied }
  expect(await mindledger(['verify'], ofBackup)).toMatchObject({ code: 0, err: '' })
  const [blob = ''] = readdirSync(dataPaths(copied).blobs)
  writeFileSync(join(dataPaths(copied).blobs, blob), 'rotten')
  expect(await mindledger(['verify'], ofBackup)).toMatchObject({ code: 1, out: expect.stringContaining(blob) })
  expect(readdirSync(copied)).toEqual(readdirSync(into))
  // It needs no PostgreSQL.
  const restored = join(place.path, 'restored')
  mkdirSync(restored)
  for (const name of ['vault.key', 'head.key']) copyFileSync(join(there, name), join(restored, name))
  expect(await mindledger(['restore', into, '--into', restored, '--head', heads], { DATA_DIR: restored })).toMatchObject({
    code: 0,
  })
  expect(await mindledger(['verify', '--head', heads], { DATA_DIR: restored })).toMatchObject({ code: 0, err: '' })
  const again = await mindledger(['reproduce', '--all', '--json'], env)
  const lines = again.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { result: string; detail: string })
  expect(lines.filter(({ detail }) => /blob|missing|kept/i.test(detail) && /not|missing/.test(detail))).toEqual([])
  expect(lines.length).toBeGreaterThan(0)
  rmSync(restored, { recursive: true, force: true })
})

type Behind = {
  paths: ReturnType<typeof prepareDataDirectory>
  vault: Vault
  session: SharedLogSession
  sequencer: Sequencer
  /** The file of a node that has a part of the log; and the end of this part. */
  part: Replica
  early: Awaited<ReturnType<Sequencer['look']>>
  /** Secrets in this part: later batches wrapped the key of one again, and erased the other. */
  kept: string
  erased: string
}

/** Runs a test over a node that is behind a log which went on. */
const withBehind = async (name: string, run: (behind: Behind) => Promise<void>): Promise<void> => {
  const address = await server().newUrl()
  const vault = new Vault(testKey)
  const log = await openNode(address, join(place.path, `${name}.sqlite`), vault)
  const session = await whenReached(() => SharedLogSession.open(address))
  const sequencer = new Sequencer(address, new ServerClock())
  const paths = prepareDataDirectory(join(place.path, name))
  const part = new Replica({ file: paths.log, logId: log.id, vault, now: Date.now })
  try {
    const [kept, erased] = [vault.seal(Buffer.from('"kept"')), vault.seal(Buffer.from('"erased"'))]
    for (const [i, sealed] of [kept, erased].entries()) {
      const data = { project: stream(1), name: `s${i}`, type: 'sql', params: { key: { $secret: sealed.hash } } }
      await log.submit({ ...writes({ stream: stream(2 + i), event: { type: 'SkillCreated', data } }), payloads: [sealed] })
    }
    // As many batches as a part has.
    const sender = new Sender(session, await lookAt(session))
    while (sender.at.seq < limits.sharedDeltaMaxBatches) await sender.send({})
    const early = await sequencer.look()
    await newest(log)
    await log.beginRotation(vault.add(randomBytes(32)))
    expect(await log.rewrapSome(0)).toBeDefined()
    const payloads = [{ hash: erased.hash, replacement: null }]
    const data = { what: 'secrets' as const, subject: 's1', reason: null, payloads, blobs: [] }
    await log.submit(writes({ stream: logStream, event: { type: 'DataErased', data } }))
    await part.take(await sequencer.after(part.place))
    await run({ paths, vault, session, sequencer, part, early, kept: kept.hash, erased: erased.hash })
  } finally {
    part.close()
    await sequencer.close()
    await session.close()
    await log.close()
  }
}

test('a copy of a log that goes on meanwhile lacks no payload that a later batch wrote again, and holds', () =>
  withBehind('busy', async ({ vault, session, sequencer, part, early, kept, erased }) => {
    expect(part.place.seq).toBe(early.seq)
    expect(part.reads.payload(kept)?.toString()).toBe('"kept"')
    expect(part.reads.payloadState(erased)).toEqual({ isErased: true, replacedBy: null, bytes: 0 })
    const file = join(place.path, 'copy')
    const copy = new Replica({ file, logId: readLogId(part.reads.db), vault, now: Date.now })
    await copyAll({ look: async () => early, after: (at) => sequencer.after(at) }, copy, () => undefined)
    expect(isSamePlace(copy.place, await lookAt(session))).toBe(true)
    copy.close()
    expect((await verifyLog({ logFile: file, masterKeys: vault.keys() })).findings).toEqual([])
  }))

test('a node that is behind is accused of no payload that later batches wrapped again or erased', () =>
  withBehind('behind-verified', async ({ paths, vault }) => {
    const counts = { readable: 1, erased: 0, erasedLater: 1 }
    for (const known of [vault.keys(), [testKey]])
      expect(await verifyLog({ logFile: paths.log, masterKeys: known })).toMatchObject({ findings: [], payloads: counts })
    const said = await mindledger(['verify'], { DATA_DIR: paths.root, VAULT_KEY: testKey.toString('hex') })
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining('in events which it does not have yet: 1.') })
  }))

test('a backup of a node that is behind waits until its log has what later batches did to its payloads', () =>
  withBehind('behind-copied', async ({ paths, vault, sequencer, part }) => {
    let copies = 0
    const onProgress = (text: string) => {
      if (text === 'copying the log') copies += 1
    }
    const take = (name: string) =>
      takeBackup({
        ...{ from: paths, store: new Blobs(paths.blobs), like: undefined, headOf: () => 'head\n', onProgress },
        into: join(place.path, name),
      })
    await expect(take('behind-refused')).rejects.toThrow('start this node, and try again')
    expect(copies).toBe(1)
    const taking = take('behind-backup')
    await until(() => copies === 2)
    for (let last = Infinity; part.place.seq < last;) {
      const delta = await sequencer.after(part.place)
      await part.take(delta)
      last = delta.newest
    }
    await taking
    expect(copies).toBe(3)
    const { log } = dataPaths(join(place.path, 'behind-backup'))
    expect((await verifyLog({ logFile: log, masterKeys: vault.keys() })).findings).toEqual([])
  }))
