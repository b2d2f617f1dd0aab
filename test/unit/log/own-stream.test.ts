import { expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { createHash } from 'node:crypto'
import type { ErasureKind } from '../../../events/records/log.js'
import type { Ledger } from '../../../src/commands/ledger.js'
import { planPrediction } from '../../../src/erasure/plan/predictions.js'
import { forgetErased } from '../../../src/files/shared/forget-erased.js'
import { erasureOfBlob, erasureOfPayload } from '../../../src/log/read/find-erasure.js'
import { KeptReplies } from '../../../src/log/sqlite/kept-replies.js'
import { erasedIn } from '../../../src/log/storage/erased-blobs.js'
import { prepareErasedAt } from '../../../src/log/storage/schema.js'
import { origin, stream, withLog, writes } from '../../support/log/log.js'
import { Vault } from '../../../src/vault/vault.js'

// An erasure by age is many long events, so that the log's own stream may be as long as any other.

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

const erase = (ledger: Ledger, what: ErasureKind, { payloads = [], blobs = [] }: { payloads?: string[]; blobs?: string[] }) => {
  const data = { what, subject: 'all', reason: null, payloads: payloads.map((hash) => ({ hash, replacement: null })), blobs }
  return ledger.execute({ type: 'EraseData', data }, origin)
}

test('the position of the last erasure is found without reading the earlier ones', () => {
  const db = new Database(':memory:')
  db.exec(`
    CREATE TABLE events (position INTEGER PRIMARY KEY, text TEXT, stream TEXT, version INTEGER, type TEXT);
    CREATE UNIQUE INDEX events_by_stream ON events (stream, version);
    INSERT INTO events VALUES (1, 'no JSON', 'log', 1, 'DataErased'), (5, '{"data":{"what":"before"}}', 'log', 2, 'DataErased'),
      (6, '{}', 'other', 1, 'SkillCreated')`)
  expect(prepareErasedAt(db)()).toBe(5)
  db.close()
})

test('whether a kept answer up to a time shows rows is told without reading the later ones', () => {
  const db = new Database(':memory:')
  db.exec(`
    CREATE TABLE answers (actor TEXT, key TEXT, fingerprint TEXT, answer TEXT, answered_at TEXT, PRIMARY KEY (actor, key));
    CREATE INDEX answers_by_age ON answers (answered_at);
    INSERT INTO answers VALUES ('a', 'old', '', '{}', '2026-01-01T00:00:00.000Z'),
      ('a', 'young', '', 'no JSON', '2026-03-01T00:00:00.000Z')`)
  expect(new KeptReplies(db, new Vault(Buffer.alloc(32, 7))).showRows(Date.parse('2026-02-01'))).toBe(false)
  db.close()
})

test('the erasure of a payload or a blob is found without parsing the others', () =>
  withLog(async ({ log, ledger }) => {
    const [payload, blob] = [hashOf('payload'), hashOf('blob')]
    for (let n = 0; n < 3; n++) {
      await erase(ledger, 'before', { payloads: [hashOf(`other ${n}`)] })
      if (n < 2) await erase(ledger, 'file', { payloads: [payload], blobs: [blob] })
    }
    const readStream: typeof log.readStream = async (...asked) =>
      (await log.readStream(...asked)).map(({ position, text }) => ({ position, text: text.includes(blob) ? text : 'no JSON' }))
    expect(await erasureOfPayload({ readStream }, payload)).toMatchObject({ position: 4, reason: null })
    expect(await erasureOfBlob({ readStream }, blob)).toMatchObject({ position: 4 })
    expect(await erasureOfBlob({ readStream }, hashOf('unknown'))).toBeUndefined()
  }))

test('a starting node notes erased blobs as it reads them, and holds no others', () =>
  withLog(async ({ log, ledger }) => {
    for (let n = 0; n < 3; n++) await erase(ledger, 'file', { blobs: [hashOf(`blob ${n}`)] })
    const noted: string[] = []
    const known: number[] = []
    const readStream: typeof log.readStream = (stream, after) => {
      known.push(noted.length)
      return log.readStream(stream, after, 1)
    }
    const reads = { readStream, erasedAt: () => log.erasedAt(), onCommitted: () => () => undefined }
    await forgetErased(reads, { noteErased: (sha) => void noted.push(sha) })
    expect(noted).toEqual([0, 1, 2].map((n) => hashOf(`blob ${n}`)))
    expect(known).toEqual([0, 1, 2, 3])
  }))

test('erased blobs are told event by event, without holding the events', () =>
  withLog(async ({ log, ledger }) => {
    for (let n = 0; n < 3; n++) await erase(ledger, 'file', { blobs: [hashOf(`blob ${n}`)] })
    const stored = await log.readStream('log', 0, 10)
    let read = 0
    const texts = function* () {
      for (const { text } of stored) {
        read++
        yield text
      }
    }
    const told: [string, number][] = []
    for (const blob of erasedIn(texts())) told.push([blob, read])
    expect(told).toEqual([0, 1, 2].map((n) => [hashOf(`blob ${n}`), n + 1]))
  }))

test('whether the kept answer of a JOIN is erased is told by the newest erasure alone', () =>
  withLog(async ({ log, ledger }) => {
    for (let n = 0; n < 3; n++) await erase(ledger, 'before', { payloads: [hashOf(`row ${n}`)] })
    const requests = [{ request: 'r', rows: 1 }]
    const data = { model: stream(5), version: 1, rows: 1, requests, payload: null, statement: 'SELECT 1', read_at: 0 }
    const event = { type: 'PredictionsServed' as const, data }
    const { positions } = await log.submit(writes({ stream: `${stream(5)}/predictions`, event }))
    const keyed = ledger.keyed(origin, { idempotency: { key: 'k', request: 'r' } })
    await log.keepReply(keyed, { status: 200, type: null, etag: null, body: 'rows of a JOIN', rows: true }, positions[0]!)
    let read = 0
    const readStream = log.readStream.bind(log)
    log.readStream = async (...asked) => {
      const events = await readStream(...asked)
      if (asked[0] === 'log') read += events.length
      return events
    }
    expect(await planPrediction(log, positions[0]!)).toMatchObject({ replies: true, already: 0 })
    expect(read).toBe(1)
  }))
