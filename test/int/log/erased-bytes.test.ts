import { describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { logStream } from '../../../events/records/log.js'
import { Erasures } from '../../../src/erasure/erasures.js'
import { Blobs } from '../../../src/files/blobs.js'
import type { Log, NewEvent } from '../../../src/log/contract/log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { Vault, type SealedPayload } from '../../../src/vault/vault.js'
import { eachLog } from '../../support/log/each-log.js'
import { origin, patiently, stream, tamperWith, testKey } from '../../support/log/log.js'
import { tracesInFiles } from '../../support/observe/traces.js'

const vault = new Vault(testKey)

const sealed = (count: number): SealedPayload[] =>
  Array.from({ length: count }, (_, i) => vault.seal(Buffer.from(`secret ${i} ${'x'.repeat((i * 97) % 3_000)}`)))

const named = ({ hash }: SealedPayload, n: number): NewEvent => ({
  stream: stream(n),
  event: { type: 'SkillCreated', data: { project: stream(1), name: `s${n}`, type: 'sql', params: { key: { $secret: hash } } } },
})

const write = async (log: Log, payloads: SealedPayload[], from = 0) => {
  await Promise.all(
    payloads.map((payload, i) => log.submit({ origin, lookups: {}, decide: () => [named(payload, from + i + 10)], payloads: [payload] })),
  )
}

/** A prediction that kept its row as a payload. */
const servedRows = ({ hash }: SealedPayload): NewEvent => {
  const requests = [{ request: 'r', rows: 1 }]
  const data = { model: stream(5), version: 1, rows: 1, requests, payload: hash, statement: null, read_at: 0 }
  return { stream: `${stream(5)}/predictions`, event: { type: 'PredictionsServed', data } }
}

const erased = (payloads: readonly { hash: string; replacement: string | null }[]): NewEvent => ({
  stream: logStream,
  event: { type: 'DataErased', data: { what: 'secrets', subject: 'skill', reason: null, payloads: [...payloads], blobs: [] } },
})

/** How many keys or ciphertexts the files of the log still have: the beginning of a wrapped key, the middle of a body. */
const traces = (file: string, payloads: readonly SealedPayload[]): number => {
  const needles = payloads.flatMap(({ wrapped, body }) => [wrapped.subarray(0, 12), body.subarray(12, 24)])
  const found = tracesInFiles([file, `${file}-wal`], needles).flatMap(({ needles }) => needles)
  return new Set(found.map((i) => i >> 1)).size
}

/** The key that seals kept answers with rows, as the log's file has it. */
const replyKeyIn = (file: string): string | undefined => {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare<[], string>(`SELECT value ->> '$.wrapped' FROM meta WHERE key = 'reply_key'`).pluck().get()
  } finally {
    db.close()
  }
}

eachLog(({ withLog, isShared }) =>
  describe('what an erasure takes', () => {
    test('is in no byte of the log’s files, free pages and write-ahead log included; neighbours stay readable', () =>
      withLog(async ({ log, file }) => {
        const payloads = sealed(2_000)
        await write(log, payloads)
        expect(traces(file, payloads)).toBe(2_000)
        const gone = payloads.filter((_, i) => i % 3 === 0)
        await log.submit({
          origin,
          lookups: {},
          decide: () => [erased(gone.slice(0, 1_000).map(({ hash }) => ({ hash, replacement: null })))],
          payloads: [],
        })
        await log.wipe()
        expect(traces(file, gone)).toBe(0)
        // Neither does what was written since bring them back, nor has the file lost anything.
        await write(log, sealed(100), 5_000)
        await log.wipe()
        expect(traces(file, gone)).toBe(0)
        expect((await verifyLog({ logFile: file })).findings).toEqual([])
        for (const [i, { hash }] of payloads.entries()) expect((await log.payload(hash)) === undefined).toBe(i % 3 === 0)
        expect(await log.erasedAt()).toBe(2_001)
        expect(await log.payloadState(gone[0]?.hash ?? '')).toEqual({ isErased: true, replacedBy: null, bytes: 0 })
      }))

    test('is gone in the transaction of the event: a refused one takes nothing', () =>
      withLog(async ({ log }) => {
        const [payload] = sealed(1)
        await write(log, [payload!])
        const refused = log.submit({
          origin,
          lookups: {},
          decide: () => [erased([{ hash: payload!.hash, replacement: null }]), { ...named(payload!, 10), stream: stream(99) }],
          payloads: [],
        })
        await expect(refused).rejects.toThrow()
        expect((await log.payload(payload!.hash))?.toString()).toMatch(/^secret 0/)
      }))

    test('in part leaves a replacement that readers of the old hash get', () =>
      withLog(async ({ log, file }) => {
        const [old, next, last] = sealed(3) as [SealedPayload, SealedPayload, SealedPayload]
        await write(log, [old])
        const replace = (by: SealedPayload, hashes: string[]) =>
          log.submit({
            origin,
            lookups: {},
            decide: () => [erased(hashes.map((hash) => ({ hash, replacement: by.hash })))],
            payloads: [by],
          })
        await replace(next, [old.hash])
        expect((await log.payload(old.hash))?.toString()).toMatch(/^secret 1/)
        await replace(last, [old.hash, next.hash])
        await log.wipe()
        expect((await log.payload(old.hash))?.toString()).toMatch(/^secret 2/)
        expect(await log.payloadState(old.hash)).toEqual({ isErased: true, replacedBy: last.hash, bytes: 0 })
        expect(traces(file, [old, next])).toBe(0)
      }))

    test('waits for a reader that still sees the write-ahead log, and holds nobody else up', () =>
      withLog(async ({ log, file }) => {
        const payloads = sealed(1)
        await write(log, payloads)
        const reader = new Database(file, { readonly: true })
        reader.exec('BEGIN')
        reader.prepare('SELECT count(*) FROM events').get()
        await log.submit({ origin, lookups: {}, decide: () => [erased([{ hash: payloads[0]!.hash, replacement: null }])], payloads: [] })
        let isWiped = false
        const wiping = log.wipe().then(() => (isWiped = true))
        await write(log, sealed(1), 5)
        expect(isWiped).toBe(false)
        reader.close()
        await wiping
        expect(traces(file, payloads)).toBe(0)
      }))

    test('does not keep a stop waiting for a reader: the erasure stands, and the next start finishes it', () =>
      withLog(async ({ log, ledger, file }) => {
        const payload = vault.seal(Buffer.from('[]'))
        await log.submit({ origin, lookups: {}, decide: () => [servedRows(payload)], payloads: [payload] })
        const erasures = new Erasures({ ledger, log, blobs: new Blobs(`${file}-blobs`), purge: async () => undefined })
        const reader = new Database(file, { readonly: true })
        reader.exec('BEGIN')
        reader.prepare('SELECT count(*) FROM events').get()
        const erasing = erasures.erase({ subject: { what: 'prediction', of: 1 }, reason: null, shared: false, dryRun: false }, origin)
        const told = expect(erasing).rejects.toMatchObject({ code: 'busy' })
        await erasures.stop(100)
        await told
        expect((await log.payloadState(payload.hash))?.isErased).toBe(true)
        reader.close()
        await log.wipe()
        expect(traces(file, [payload])).toBe(0)
      }))

    test('is not said to be gone while the tables could not be purged: the repeated request purges them', () =>
      withLog(async ({ log, ledger, file }) => {
        const payload = vault.seal(Buffer.from('[]'))
        await log.submit({ origin, lookups: {}, decide: () => [servedRows(payload)], payloads: [payload] })
        const purges: number[] = []
        const purge = async (erasedAt: () => Promise<number>) => {
          if (purges.push(await erasedAt()) === 1) throw new Error('SQL is not available')
        }
        const erasures = new Erasures({ ledger, log, blobs: new Blobs(`${file}-blobs`), purge })
        const erase = () => erasures.erase({ subject: { what: 'prediction', of: 1 }, reason: null, shared: false, dryRun: false }, origin)
        await expect(erase()).rejects.toThrow('SQL is not available')
        const again = { payloads: 0, positions: [], already_erased: 1 }
        expect(await erase()).toMatchObject(again)
        expect(purges).toEqual([2, 2])
        expect(await erase()).toMatchObject(again)
        expect(purges).toHaveLength(2)
      }))

    if (!isShared)
      test('leaves no copy in the file of an earlier release either, which kept payloads by their hashes in pages that were split', () =>
        withLog(async ({ log, file }) => {
          await log.close()
          const payloads = sealed(1_000)
          tamperWith(file, (db) => {
            db.exec(`
          DROP TABLE payloads;
          CREATE TABLE payloads (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL, wrapped BLOB, body BLOB NOT NULL) STRICT, WITHOUT ROWID`)
            const insert = db.prepare('INSERT INTO payloads VALUES (?, ?, ?, ?)')
            for (const { hash, keyId, wrapped, body } of payloads) insert.run(hash, keyId, wrapped, body)
          })
          const today = new SqliteLog({ file, vault })
          expect((await today.payload(payloads[7]!.hash))?.toString()).toMatch(/^secret 7/)
          await today.submit({
            origin,
            lookups: {},
            decide: () => [erased(payloads.map(({ hash }) => ({ hash, replacement: null })))],
            payloads: [],
          })
          await today.wipe()
          await today.close()
          expect(traces(file, payloads)).toBe(0)
        }))

    test('by age are the rows of kept answers, too, though no payload has them', () =>
      withLog(async ({ log, ledger, file }) => {
        const keyed = ledger.keyed(origin, { idempotency: { key: 'k', request: 'r' } })
        await log.keepReply(keyed, { status: 200, type: null, etag: null, body: 'rows of a JOIN', rows: true }, 0)
        const erasures = new Erasures({ ledger, log, blobs: new Blobs(`${file}-blobs`), purge: async () => undefined })
        const older = (than: number) => erasures.eraseOlder('rows', new Date(Date.now() + than), origin)
        expect(await older(-60_000)).toMatchObject({ positions: [] })
        expect(await older(60_000)).toMatchObject({ payloads: 0, positions: [expect.any(Number)] })
        expect(await patiently(() => log.replyTo(keyed))).toMatchObject({ status: 410 })
        expect(await older(60_000)).toMatchObject({ positions: [] })
      }))

    test('in a kept answer was sealed, and the key goes with it, so that no copy in a page can be read', () =>
      withLog(async ({ log, ledger, file }) => {
        const keyed = (n: number) => ledger.keyed(origin, { idempotency: { key: `k${(n * 7_919) % 1_000}`, request: 'r' } })
        const reply = (n: number) => ({ status: 200, type: null, etag: null, body: `private row ${n}`, rows: true as const })
        await Promise.all(Array.from({ length: 300 }, (_, n) => log.keepReply(keyed(n), reply(n), 0)))
        expect(await patiently(() => log.replyTo(keyed(7)))).toEqual(reply(7))
        const key = replyKeyIn(file)
        const left = () => tracesInFiles([file, `${file}-wal`], [Buffer.from('private row'), Buffer.from(key ?? '')])
        expect(left().flatMap(({ needles }) => needles)).not.toContain(0)
        expect(left()).not.toEqual([])
        const data = { what: 'before' as const, subject: '2026-01-01', reason: null, payloads: [], blobs: [] }
        await log.submit({ origin, lookups: {}, decide: () => [{ stream: logStream, event: { type: 'DataErased', data } }], payloads: [] })
        await log.wipe()
        expect(await patiently(() => log.replyTo(keyed(7)))).toMatchObject({ status: 410 })
        expect(left()).toEqual([])
        await log.keepReply(keyed(301), reply(301), await log.erasedAt())
        expect(await patiently(() => log.replyTo(keyed(301)))).toEqual(reply(301))
      }))

    if (!isShared)
      test('leaves no copy of kept answers with rows in the file of an earlier release, which did not seal them', () =>
        withLog(async ({ log, ledger, file }) => {
          const keyed = (n: number) => ledger.keyed(origin, { idempotency: { key: `k${(n * 7_919) % 1_000}`, request: 'r' } })
          await log.close()
          tamperWith(file, (db) => {
            db.exec(`
          DROP TABLE answers;
          CREATE TABLE answers (
            actor TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, answer TEXT NOT NULL, answered_at TEXT NOT NULL,
            PRIMARY KEY (actor, key)
          ) STRICT, WITHOUT ROWID`)
            const insert = db.prepare('INSERT INTO answers VALUES (?, ?, ?, ?, ?)')
            for (let n = 0; n < 300; n++) {
              const { idempotency } = keyed(n)
              const shown = n % 2 === 0 ? { body: `private row ${n}`, rows: true } : { body: `public ${n}` }
              const reply = { status: 200, type: null, etag: null, ...shown }
              const answer = { positions: [], stream: null, resource: null, repeated: false, reply }
              insert.run(origin.actor, idempotency?.key, idempotency?.fingerprint, JSON.stringify(answer), '2026-01-01T00:00:00.000Z')
            }
          })
          const today = new SqliteLog({ file, vault })
          expect(await today.replyTo(keyed(2))).toMatchObject({ status: 410 })
          expect(await today.replyTo(keyed(3))).toMatchObject({ status: 200, body: 'public 3' })
          await today.wipe()
          await today.close()
          expect(tracesInFiles([file, `${file}-wal`], [Buffer.from('private row')])).toEqual([])
        }))

    test('leaves no copy of keys that came many at a time', () =>
      withLog(async ({ log, file }) => {
        const payloads = Array.from({ length: 1_000 }, (_, i) => vault.seal(Buffer.from(`secret ${i} ${'x'.repeat((i * 97) % 400)}`)))
        for (let from = 0; from < payloads.length; from += 50) {
          const some = payloads.slice(from, from + 50)
          await log.submit({ origin, lookups: {}, decide: () => some.map((payload, i) => named(payload, from + i + 10)), payloads: some })
        }
        const all = payloads.map(({ hash }) => ({ hash, replacement: null }))
        await log.submit({ origin, lookups: {}, decide: () => [erased(all)], payloads: [] })
        await log.wipe()
        expect(traces(file, payloads)).toBe(0)
      }))
  }),
)
