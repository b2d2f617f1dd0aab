import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { Ledger } from '../../../src/commands/ledger.js'
import { holding } from '../../../src/files/blob-store.js'
import { MissingBlobs } from '../../../src/files/missing-blobs.js'
import { collectBlobs } from '../../../src/files/shared/collect.js'
import { givingBack } from '../../../src/files/shared/give-back.js'
import { S3Objects } from '../../../src/files/shared/s3-objects.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { openBlobs } from '../../../src/open-blobs.js'
import { Vault } from '../../../src/vault/vault.js'
import { startS3, type S3Server } from '../../support/files/s3-server.js'
import { openStore, problemOf, shaOf, withStores, type Nodes } from '../../support/files/shared-stores.js'
import { logServer } from '../../support/log/each-log.js'
import { origin, testKey } from '../../support/log/log.js'
import { newest } from '../../support/log/nodes.js'
import { until, whenReached } from '../../support/until.js'

const { server } = logServer()
const { signal } = new AbortController()
const bytesOf = (length: number, seed: number) => Buffer.alloc(length, `${seed} of the tests, `)
const mebibyte = 2 ** 20
const laterThanAll = '2999-01-01T00:00:00.000000Z'

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.stop())

const withNodes = (place: 'postgres' | 's3', run: (nodes: Nodes) => Promise<void>, cacheMaxBytes?: number): Promise<void> =>
  withStores(server(), place === 's3' ? s3.address : undefined, run, cacheMaxBytes)

describe.each(['postgres', 's3'] as const)('blobs in %s', (place) => {
  test.each([0, 1, mebibyte - 1, mebibyte, 3 * mebibyte + 17])('a blob of %i bytes that one node put is read by another', (length) =>
    withNodes(place, async ({ a, b, directory }) => {
      const bytes = bytesOf(length, length)
      const file = join(directory, 'upload')
      writeFileSync(file, bytes)
      const sha = await a.blobs.put(file)
      expect(sha).toBe(shaOf(bytes))
      expect(existsSync(file)).toBe(false)
      expect(await b.blobs.has(sha)).toBe(true)
      expect((await b.blobs.read(sha)).equals(bytes)).toBe(true)
      expect(await holding(b.blobs, async (fileOf) => (await readFile(await fileOf(sha))).equals(bytes))).toBe(true)
      expect(await b.blobs.list()).toEqual([sha])
    }),
  )

  test('equal bytes are one blob, however many nodes put them at once', () =>
    withNodes(place, async ({ a, b }) => {
      const bytes = bytesOf(2 * mebibyte, 1)
      const shas = await Promise.all([a, b, a, b, a, b].map(({ blobs }) => blobs.putBytes(bytes)))
      expect(new Set(shas)).toEqual(new Set([shaOf(bytes)]))
      expect(await a.blobs.list()).toEqual([shaOf(bytes)])
      expect(await a.connections.query('SELECT FROM mindledger.blob_objects')).toHaveLength(0)
      const chunks = await a.connections.query('SELECT FROM mindledger.blob_chunks')
      expect(chunks).toHaveLength(place === 's3' ? 0 : 2)
      const found = await a.register.find(shaOf(bytes))
      if (place === 's3') expect([...s3.objects.keys()].filter((key) => key.endsWith(found?.object ?? ''))).toHaveLength(1)
    }))

  test('many readers of a blob fetch it once', () =>
    withNodes(place, async ({ a, b }) => {
      const sha = await a.blobs.putBytes(bytesOf(mebibyte, 2))
      const before = s3.answered.length
      const read = await Promise.all(Array.from({ length: 20 }, () => b.blobs.read(sha)))
      expect(read.every((bytes) => shaOf(bytes) === sha)).toBe(true)
      if (place === 's3') expect(s3.answered.slice(before)).toEqual(['GET 200'])
    }))

  test('a blob that is removed is gone everywhere; a node that has it still forgets it', () =>
    withNodes(place, async ({ a, b }) => {
      const sha = await a.blobs.putBytes(Buffer.from('to be erased'))
      const { file, release } = await b.blobs.hold(sha)
      const found = await a.register.find(sha)
      const remove = () => a.blobs.removeErased(sha, laterThanAll, true)
      expect([await remove(), await remove(), await a.blobs.has(sha)]).toEqual([true, false, false])
      expect(await a.connections.query('SELECT FROM mindledger.blob_chunks')).toHaveLength(0)
      expect(await a.connections.query('SELECT FROM mindledger.blob_objects')).toHaveLength(0)
      expect([...s3.objects.keys()].some((key) => key.endsWith(found?.object ?? 'none'))).toBe(false)
      b.blobs.forget(sha)
      expect(existsSync(file)).toBe(false)
      release()
      expect(await b.blobs.has(sha)).toBe(false)
      expect((await problemOf(b.blobs.read(sha))).code).toBe('not_found')
      expect(await b.blobs.putBytes(Buffer.from('to be erased'))).toBe(sha)
      expect((await a.blobs.read(sha)).toString()).toBe('to be erased')
    }))

  test('a blob whose bytes are gone or others is told, not handed out, and stored again by the next upload', () =>
    withNodes(place, async ({ a, b }) => {
      const [gone, other] = [await a.blobs.putBytes(bytesOf(3 * mebibyte, 3)), await a.blobs.putBytes(bytesOf(3 * mebibyte, 4))]
      const [goneObject, otherObject] = [(await a.register.find(gone))?.object ?? '', (await a.register.find(other))?.object ?? '']
      if (place === 's3') {
        s3.objects.delete(`/ledger/blobs/${goneObject}`)
        s3.objects.set(`/ledger/blobs/${otherObject}`, bytesOf(3 * mebibyte, 5))
      } else {
        await a.connections.query('DELETE FROM mindledger.blob_chunks WHERE object = $1 AND number = 1', [goneObject])
        await a.connections.query('UPDATE mindledger.blob_chunks SET body = $2 WHERE object = $1 AND number = 0', [
          otherObject,
          bytesOf(mebibyte, 5),
        ])
      }
      for (const sha of [gone, other]) {
        const problem = await problemOf(b.blobs.read(sha))
        expect(problem).toMatchObject({ code: 'storage_failed', title: 'Blob damaged' })
        expect(problem.detail).toContain(sha)
      }
      expect(b.cache.bytes).toBe(0)
      // The node that put them has good ones.
      expect(shaOf(await a.blobs.read(gone))).toBe(gone)
      for (const [sha, seed] of [
        [gone, 3],
        [other, 4],
      ] as const) {
        expect(await a.blobs.putBytes(bytesOf(3 * mebibyte, seed))).toBe(sha)
        expect(shaOf(await b.blobs.read(sha))).toBe(sha)
      }
      // What is left of the damaged ones is removed.
      const left = await a.register.doomOlder(3_600_000)
      expect(left.map(({ object }) => object).sort()).toEqual([goneObject, otherObject].sort())
      // A late note of the old damage does not concern the new bytes.
      await b.register.noteDamaged(gone, goneObject)
      const { object } = (await a.register.find(gone)) ?? {}
      await a.blobs.putBytes(bytesOf(3 * mebibyte, 3))
      expect((await a.register.find(gone))?.object).toBe(object)
    }))

  test('a damaged blob that several nodes upload at once is one blob again', () =>
    withNodes(place, async ({ a, b }) => {
      const bytes = bytesOf(mebibyte, 6)
      const sha = await a.blobs.putBytes(bytes)
      await a.register.noteDamaged(sha, (await a.register.find(sha))?.object ?? '')
      await Promise.all([a, b, a, b, a, b].map(({ blobs }) => blobs.putBytes(bytes)))
      expect(await a.blobs.list()).toEqual([sha])
      a.blobs.forget(sha)
      expect((await a.blobs.read(sha)).equals(bytes)).toBe(true)
    }))

  test('a store of an earlier release is opened', () =>
    withNodes(place, async ({ a, directory, url }) => {
      await a.connections.query('ALTER TABLE mindledger.blobs DROP COLUMN is_damaged')
      const again = await openStore(url, join(directory, 'c'), place === 's3' ? s3.address : undefined)
      try {
        expect((await again.blobs.read(await again.blobs.putBytes(Buffer.from('later')))).toString()).toBe('later')
      } finally {
        await again.close()
      }
    }))

  test('what is given up goes from the store and its node, unless somebody has put it again or the store had lost it', () =>
    withNodes(place, async ({ a, b }) => {
      const put = ({ blobs }: typeof a) => blobs.putBytes(Buffer.from('given'))
      const given = await put(a)
      await a.blobs.giveUp(given)
      expect([await a.register.find(given), a.cache.has(given)]).toEqual([undefined, false])
      expect(await a.connections.query('SELECT FROM mindledger.blob_objects')).toHaveLength(0)
      for (const node of [a, b]) await put(node)
      for (const { blobs } of [a, b]) await blobs.giveUp(given)
      expect(await b.register.find(given)).toBeDefined()
      await a.connections.query('DELETE FROM mindledger.blobs')
      await put(a)
      await a.blobs.giveUp(given)
      expect(await b.register.find(given)).toBeDefined()
    }))

  test('what no event names is collected by its age, and what was put again is young', () =>
    withNodes(place, async ({ a, b, directory, url }) => {
      const log = await whenReached(() => SharedLog.open({ url, file: join(directory, 'log.sqlite'), vault: new Vault(testKey) }))
      try {
        const named = await a.blobs.putBytes(Buffer.from('named'))
        const unnamed = await a.blobs.putBytes(Buffer.from('unnamed'))
        const ledger = new Ledger(log, new Vault(testKey))
        const content = { content: named, bytes: 5, row_count: 0, columns: [], original_name: null }
        await ledger.execute({ type: 'CreateFile', data: { file: 'a', content } }, origin)
        const options = { log, newest: () => newest(log), blobs: b.blobs, register: b.register }
        expect(await collectBlobs(options, signal)).toBe(0)
        expect(await a.blobs.list()).toEqual([named, unnamed].sort())
        await a.connections.query(`UPDATE mindledger.blobs SET put_at = put_at - interval '2 hours'`)
        expect(await a.blobs.putBytes(Buffer.from('unnamed'))).toBe(unnamed)
        expect(await collectBlobs({ ...options, ageMs: 3_600_000 }, signal)).toBe(0)
        await a.connections.query(`UPDATE mindledger.blobs SET put_at = put_at - interval '2 hours'`)
        await b.blobs.read(unnamed)
        expect(await collectBlobs({ ...options, ageMs: 3_600_000 }, signal)).toBe(1)
        expect(b.cache.has(unnamed)).toBe(false)
        // Another node forgets it when it looks for what the store lacks.
        const give = givingBack({ log, newest: () => newest(log), ...a })
        for (const isThere of [true, false]) expect([await give(signal), a.cache.has(unnamed)]).toEqual([0, isThere])
        expect(await a.blobs.list()).toEqual([named])
        expect(await a.connections.query('SELECT FROM mindledger.blob_objects')).toHaveLength(0)
        // It is known to be named: nobody looks for it again.
        expect(await b.register.unnamed(0)).toEqual([])
      } finally {
        await log.close()
      }
    }))
})

describe('the cache of a node', () => {
  const threeBlobs = 3 * mebibyte

  test('has a bound: those used least recently go, and come again when they are read', () =>
    withNodes(
      'postgres',
      async ({ a, b, directory }) => {
        const shas: string[] = []
        for (let i = 0; i < 5; i++) shas.push(await a.blobs.putBytes(bytesOf(mebibyte, i)))
        const cached = () => readdirSync(join(directory, 'b', 'blobs')).sort()
        for (const sha of shas.slice(0, 3)) await b.blobs.read(sha)
        await b.blobs.read(shas[0] ?? '')
        await b.blobs.read(shas[3] ?? '')
        await setImmediate()
        expect(cached()).toEqual([shas[0], shas[2], shas[3]].sort())
        expect(b.cache.bytes).toBe(threeBlobs)
        expect(shaOf(await b.blobs.read(shas[1] ?? ''))).toBe(shas[1])
        await setImmediate()
        expect(cached()).toHaveLength(3)
      },
      threeBlobs,
    ))

  test('keeps what somebody holds, also beyond its bound, until it is released', () =>
    withNodes(
      'postgres',
      async ({ a, b, directory }) => {
        const shas: string[] = []
        for (let i = 0; i < 5; i++) shas.push(await a.blobs.putBytes(bytesOf(mebibyte, i)))
        await holding(b.blobs, async (fileOf) => {
          const files = []
          for (const sha of shas) files.push(await fileOf(sha))
          await setImmediate()
          for (const [i, file] of files.entries()) expect(shaOf(await readFile(file))).toBe(shas[i])
        })
        expect(readdirSync(join(directory, 'b', 'blobs'))).toHaveLength(3)
        expect(b.cache.bytes).toBe(threeBlobs)
      },
      threeBlobs,
    ))

  test('a start finds what the one before left, within its bound, and drops what was on its way', () =>
    withNodes('postgres', async ({ a, b, directory, reopen }) => {
      const shas = [await a.blobs.putBytes(bytesOf(mebibyte, 1)), await a.blobs.putBytes(bytesOf(mebibyte, 2))]
      for (const sha of shas) await b.blobs.read(sha)
      const folder = join(directory, 'b', 'blobs')
      writeFileSync(join(folder, '.half.part'), 'half')
      const again = await reopen(mebibyte)
      expect(readdirSync(folder)).toEqual([shas[1]])
      expect(shaOf(await again.blobs.read(shas[1] ?? ''))).toBe(shas[1])
    }))

  test('a file that the disk spoiled, or that somebody took, is fetched again', () =>
    withNodes('postgres', async ({ a, b }) => {
      const sha = await a.blobs.putBytes(Buffer.from('as it was'))
      writeFileSync(b.cache.path(sha), 'something')
      await b.blobs.read(sha)
      writeFileSync(b.cache.path(sha), 'something')
      expect((await b.blobs.read(sha)).toString()).toBe('as it was')
      rmSync(b.cache.path(sha))
      expect((await b.blobs.read(sha)).toString()).toBe('as it was')
    }))
})

test('a large content is removed from PostgreSQL in parts, and one that cannot be removed holds up no others', () =>
  withNodes('postgres', async ({ a }) => {
    for (const seed of [1, 2]) await a.blobs.putBytes(bytesOf(10, seed))
    const objects = (await a.register.find(shaOf(bytesOf(10, 2))))?.object
    await a.connections.query(
      "INSERT INTO mindledger.blob_chunks (object, number, body) SELECT $1, n, 'x' FROM generate_series(1, 200) AS n",
      [objects],
    )
    await a.connections.statements(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF (SELECT count(*) FROM gone) > 64 THEN RAISE 'too much for one statement'; END IF; RETURN NULL; END $$;
      CREATE TRIGGER refuse AFTER DELETE ON mindledger.blob_chunks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION refuse();
      UPDATE mindledger.blobs SET put_at = put_at - interval '2 hours';
      UPDATE mindledger.blobs SET place = 'away' WHERE sha = '${shaOf(bytesOf(10, 1))}'`)
    await a.register.eraseUnnamed(await a.blobs.list(), 3_600_000)
    const doomed = await a.register.doomOlder(3_600_000)
    expect(doomed.map(({ place }) => place).sort()).toEqual(['away', 'postgres'])
    const first = [...doomed].sort((one, other) => (one.place < other.place ? -1 : 1))
    await expect(a.blobs.removeObjects(first)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await a.connections.query('SELECT FROM mindledger.blob_chunks WHERE object = $1', [objects])).toHaveLength(0)
    expect((await a.register.doomOlder(3_600_000)).map(({ place }) => place)).toEqual(['away'])
  }))

test('a file that the disk spoiled is whole when its content is uploaded again, also for those who hold it', () =>
  withNodes('postgres', async ({ a }) => {
    const sha = await a.blobs.putBytes(Buffer.from('as it was'))
    const { file, release } = await a.blobs.hold(sha)
    writeFileSync(file, 'something else')
    await a.blobs.putBytes(Buffer.from('as it was'))
    expect((await readFile(file)).toString()).toBe('as it was')
    expect(a.cache.bytes).toBe(9)
    release()
    expect(readdirSync(dirname(file))).toEqual([sha])
  }))

test('a service opens the store with its log, names it where contents are missing, and tidies it', () =>
  withNodes('postgres', async ({ a, directory, url }) => {
    const log = await whenReached(() => SharedLog.open({ url, file: join(directory, 'log.sqlite'), vault: new Vault(testKey) }))
    const lines: string[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const shared = { url, s3: undefined, newest: () => newest(log), leases: log.peers.leases }
    const opened = await openBlobs({ paths: { blobs: join(directory, 'service') }, log, logger, shared })
    const missing = new MissingBlobs({ log, blobs: opened.blobs, logger })
    try {
      const lost = await opened.blobs.putBytes(Buffer.from('lost'))
      const content = { content: lost, bytes: 4, row_count: 0, columns: [], original_name: null }
      await new Ledger(log, new Vault(testKey)).execute({ type: 'CreateFile', data: { file: 'a', content } }, origin)
      missing.start()
      await missing.stop()
      expect(missing.warning()).toBeUndefined()
      await a.blobs.removeErased(lost, laterThanAll, true)
      const orphan = await a.blobs.putBytes(Buffer.from('orphan'))
      // The node that erased them ended before it removed them; one of them comes again, and its event is on its way.
      const [left, again] = [await a.blobs.putBytes(Buffer.from('left')), await a.blobs.putBytes(Buffer.from('again'))]
      const data = { what: 'file' as const, subject: 'files.a', reason: null, payloads: [], blobs: [left, again] }
      await new Ledger(log, new Vault(testKey)).execute({ type: 'EraseData', data }, origin)
      missing.start()
      await missing.stop()
      expect(missing.warning()).toBe('1 contents of files or models are missing in the shared store; "mindledger verify" names them')
      await a.connections.query(`UPDATE mindledger.blobs SET put_at = put_at - interval '30 days'`)
      await a.blobs.putBytes(Buffer.from('again'))
      const stop = opened.tidyBlobs()
      await until(() => lines.some((line) => line.includes('removed blobs that nobody needs')))
      await stop()
      for (const sha of [orphan, left]) expect(await a.register.find(sha)).toBeUndefined()
      expect(await a.register.find(again)).toBeDefined()
    } finally {
      await missing.stop()
      await opened.stop()
      await log.close()
    }
  }))

test('while PostgreSQL is away contents that are here are read, others and uploads are refused with 503', () =>
  withNodes('postgres', async ({ a, b }) => {
    const [known, other] = [await a.blobs.putBytes(Buffer.from('known')), await a.blobs.putBytes(Buffer.from('other'))]
    await b.blobs.read(known)
    await server().postgres.kill()
    try {
      const refused = [b.blobs.read(other), b.blobs.putBytes(Buffer.from('new')), b.blobs.has(shaOf('new')), b.blobs.list()]
      for (const problem of await Promise.all(refused.map(problemOf)))
        expect(problem).toMatchObject({ code: 'storage_failed', status: 503, title: 'Blob store away', extras: { retryAfterSeconds: 2 } })
      expect((await b.blobs.read(known)).toString()).toBe('known')
    } finally {
      await server().postgres.revive()
    }
    expect((await b.blobs.read(other)).toString()).toBe('other')
    expect(await b.blobs.putBytes(Buffer.from('new'))).toBe(shaOf('new'))
  }))

describe('a bucket', () => {
  test('that is slow down for a moment is asked again', () =>
    withNodes('s3', async ({ a, b }) => {
      s3.failures.push(503, 500)
      const sha = await a.blobs.putBytes(Buffer.from('patient'))
      s3.failures.push(429)
      expect((await b.blobs.read(sha)).toString()).toBe('patient')
    }))

  test('that refuses the keys, or does not exist, stops the start', async () => {
    const keys = { ...s3.address.keys, secretAccessKey: 'another' }
    await expect(S3Objects.open({ ...s3.address, keys })).rejects.toThrow(
      'BLOBS_URL: s3://ledger/blobs/ cannot be written, read and tidied: S3 answers 403 SignatureDoesNotMatch',
    )
    await expect(S3Objects.open({ ...s3.address, bucket: 'nowhere' })).rejects.toThrow('S3 answers 404 NoSuchBucket')
  })

  test('that is away is told with 503', () =>
    withNodes('s3', async ({ a }) => {
      s3.failures.push(...Array.from({ length: 200 }, () => 503))
      expect(await problemOf(a.blobs.putBytes(Buffer.from('away')))).toMatchObject({ status: 503, title: 'Blob store away' })
      s3.failures.length = 0
      expect(await a.blobs.list()).toEqual([])
    }))

  test('that nobody names any more leaves its blobs unread, and says where they are', () =>
    withNodes('s3', async ({ a, directory, url }) => {
      const sha = await a.blobs.putBytes(Buffer.from('elsewhere'))
      const without = await openStore(url, join(directory, 'c'))
      try {
        expect((await problemOf(without.blobs.read(sha))).detail).toContain('s3://ledger/blobs/')
      } finally {
        await without.close()
      }
    }))
})
