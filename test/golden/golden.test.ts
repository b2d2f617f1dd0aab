import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { catalogue, upcast } from '../../events/catalogue/catalogue.js'
import { parseEnvelope, renderEnvelope } from '../../events/stored/envelope.js'
import { replay } from '../../projections/replay.js'
import { readConfig } from '../../src/setup/config.js'
import { Blobs } from '../../src/files/blobs.js'
import { hashFile } from '../../src/basics/disk.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { openLogReader } from '../../src/log/sqlite/log-reader.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { startService } from '../../src/main.js'
import { masterKeys } from '../../src/vault/key-files.js'
import { mindledger } from '../support/cli.js'
import { logServer } from '../support/log/each-log.js'
import { answered, send, sql, temporaryDirectory } from '../support/service.js'
import { dump } from '../support/log/states.js'
import { goldenRow, type Golden } from './golden.js'

const kept = fileURLToPath(new URL('../../../test/golden/format-1', import.meta.url))
const golden = JSON.parse(readFileSync(`${kept}.json`, 'utf8')) as Golden
const place = temporaryDirectory()
afterAll(() => place.remove())

const copyOf = (name: string): string => {
  const directory = join(place.path, name)
  cpSync(kept, directory, { recursive: true })
  return directory
}

const start = (directory: string, environment: Record<string, string> = {}) =>
  startService(readConfig({ PORT: '0', DATA_DIR: directory, ...environment }), pino({ level: 'silent' }))

/** Asks a service what the directory answered when it was made. A later release may say more of a record, never something else. */
const expectReads = async (url: string): Promise<void> => {
  for (const [path, body] of Object.entries(golden.rest))
    expect({ path, body: (await answered(() => send(url, 'GET', path))).body }).toMatchObject({ path, body })
  for (const [query, answer] of Object.entries(golden.sql))
    expect({ query, ...(await sql(url, query, 'flats_shop')) }).toMatchObject({ query, ...answer })
}

const expectPrediction = async (url: string): Promise<void> => {
  const predicted = await answered(() => send(url, 'POST', '/api/projects/flats_shop/models/rent/predict', [goldenRow]))
  expect(predicted.body).toEqual(golden.prediction)
}

/** Texts of the events that format 1 has had since the directory was kept: one of each, as it was first written. */
const later = JSON.parse(readFileSync(`${kept}-later.json`, 'utf8')) as string[]

test('the kept directory is small, whole, and has every event that format 1 began with', () => {
  const sizes = readdirSync(kept, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(kept, name)).size)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000)
  expect(existsSync(join(kept, 'log.sqlite-wal'))).toBe(false)
  const reader = openLogReader(copyOf('read'))
  const envelopes = reader.read(0, 1_000).map(({ text }) => parseEnvelope(text))
  reader.close()
  const types = [...envelopes, ...later.map(parseEnvelope)].map(({ type }) => type)
  expect([...catalogue.keys()].filter((type) => !types.includes(type))).toEqual([])
  expect(envelopes.filter(({ type, schema }) => type === 'ChatbotCreated' && schema === 1)).toHaveLength(1)
})

test.each(later.map((text) => [parseEnvelope(text).type, text]))('%s of format 1 is read as it was written', (_, text) => {
  const envelope = parseEnvelope(text)
  expect(renderEnvelope(envelope)).toBe(text)
  expect(() => upcast(envelope.type, envelope.schema, envelope.data)).not.toThrow()
})

test('today’s build opens a directory of format 1, and answers as the build that wrote it', async () => {
  const directory = copyOf('served')
  const paths = dataPaths(directory)
  const service = await start(directory)
  try {
    expect(await service.head()).toEqual(golden.head)
    const blobs = new Blobs(paths.blobs)
    const blobHash = async (hash: string) => ((await blobs.has(hash)) ? hashFile(blobs.path(hash)) : undefined)
    const verified = await verifyLog({ logFile: paths.log, kept: golden.head, blobHash })
    expect(verified).toMatchObject({ ok: true, findings: [], provenTo: golden.head.position })
    expect(verified.payloads.erased).toBe(0)

    await expectReads(service.url)
    await expectPrediction(service.url)
  } finally {
    await service.close()
  }
})

describe('moved to PostgreSQL', () => {
  const { server } = logServer()

  test('it gets the same answers from the node that it becomes, and from a new one', async () => {
    const directory = copyOf('moved')
    const url = await server().newUrl()
    expect(await mindledger(['migrate', '--to', url], { DATA_DIR: directory })).toMatchObject({ code: 0, err: '' })
    const [key] = masterKeys(dataPaths(directory), [])
    const keys = { VAULT_KEY: key.toString('hex'), HEAD_KEY: 'cd'.repeat(32) }
    const nodes = [directory, join(place.path, 'new')]
    for (const path of nodes) {
      const node = await start(path, { ...keys, LOG_URL: url })
      try {
        expect(await node.head()).toEqual(golden.head)
        await expectReads(node.url)
        // This is the first new event.
        if (path === nodes.at(-1)) await expectPrediction(node.url)
      } finally {
        await node.close()
      }
    }
  })
})

test('its secrets open with its key, and show nowhere', async () => {
  const directory = copyOf('secrets')
  const reader = openLogReader(directory)
  const texts = reader.read(0, 1_000).map(({ text }) => text)
  const hashes = texts.flatMap((text) => [...text.matchAll(/"\$secret":"([0-9a-f]{64})"/g)].map(([, hash]) => hash ?? ''))
  expect(hashes.map((hash) => reader.payload(hash)?.toString())).toContain('"sk-golden-2"')
  reader.close()
  expect(texts.join('')).not.toContain('golden-2')
  expect(JSON.stringify(golden)).not.toContain('golden-2')
})

test('a replay of it gives the tables that the service follows it with', async () => {
  const directory = copyOf('replayed')
  const service = await start(directory)
  // An answer says that the tables are there, however long they took.
  await sql(service.url, 'SELECT max(position) FROM log.events', 'mindsdb')
  await service.close()
  const followed = await DuckDBInstance.create(dataPaths(directory).tablesFile)
  const fresh = await DuckDBInstance.create(':memory:')
  const reader = openLogReader(directory)
  expect(await replay({ events: reader, payloads: reader, database: fresh })).toBe(golden.head.position)
  reader.close()
  const { checkpoint: _, ...tables } = await dump(fresh)
  expect(await dump(followed)).toMatchObject(tables)
  expect(tables['events']).toHaveLength(golden.head.position)
  fresh.closeSync()
  followed.closeSync()
})

test('it verifies, is backed up and restored before today’s build has opened it; heads that are newer than the backup do no harm', async () => {
  const directory = copyOf('unopened')
  const backup = join(place.path, 'backup')
  expect(await mindledger(['verify'], { DATA_DIR: directory })).toMatchObject({ code: 0 })
  expect(await mindledger(['backup', '--into', backup], { DATA_DIR: directory })).toMatchObject({ code: 0 })

  const service = await start(directory)
  await send(service.url, 'POST', '/api/projects', { project: { name: 'after_the_backup' } })
  const newer = join(place.path, 'newer-head.txt')
  writeFileSync(newer, String((await send(service.url, 'GET', '/api/log/checkpoint')).body))
  const forged = join(place.path, 'forged-head.txt')
  writeFileSync(forged, String((await send(service.url, 'GET', '/api/log/checkpoint?size=5')).body).replace('\n5\n', '\n6\n'))
  await service.close()

  const into = join(place.path, 'restored')
  const env = { DATA_DIR: into, PORT: '0' }
  expect(await mindledger(['restore', backup, '--head', forged], env)).toMatchObject({ code: 1 })
  const restored = await mindledger(['restore', backup, '--head', newer], env)
  expect(restored).toMatchObject({ code: 0 })
  expect(restored.out).toContain('is not in this copy')
  expect(await mindledger(['verify', '--head', newer], env)).toMatchObject({ code: 1 })
})

test('a directory of a newer format is refused by every command, and left as it is', async () => {
  const directory = copyOf('newer')
  writeFileSync(join(directory, 'FORMAT'), '2\n')
  const before = readdirSync(directory)
  for (const command of ['serve', 'head', 'verify', 'log', 'rebuild']) {
    const { code, out, err } = await mindledger([command], { DATA_DIR: directory, PORT: '0' })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(`mindledger: ${directory} has data format 2; this release knows up to 1. Start the newer release that wrote it.\n`)
  }
  expect(readdirSync(directory)).toEqual(before)
})
