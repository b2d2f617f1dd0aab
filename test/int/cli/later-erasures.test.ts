import { afterEach, beforeEach, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { constants } from 'node:buffer'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logStream, type DataErased } from '../../../events/records/log.js'
import { predictionsStream } from '../../../events/records/predictions.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { applyErasures, readErasures } from '../../../src/backup/later-erasures.js'
import { Blobs } from '../../../src/files/blobs.js'
import { copyLog } from '../../../src/backup/log-copy.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, projectCreated, stream, temporaryDirectory, testKey, writes } from '../../support/log/log.js'

const vault = new Vault(testKey)
let place: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(() => place.remove())

const rowsOf = (...requests: string[]) =>
  JSON.stringify(requests.map((request, row) => ({ request, row, input: { of: request }, output: {} })))

const serve = async (log: SqliteLog, ...requests: string[]): Promise<string> => {
  const payload = vault.seal(Buffer.from(rowsOf(...requests)))
  const data = {
    model: stream(5),
    version: 1,
    rows: requests.length,
    requests: requests.map((request) => ({ request, rows: 1 })),
    payload: payload.hash,
    statement: null,
    read_at: 1,
  }
  await log.submit({ ...writes({ stream: predictionsStream(stream(5)), event: { type: 'PredictionsServed', data } }), payloads: [payload] })
  return payload.hash
}

const erase = async (log: SqliteLog, erased: Partial<DataErased>, replacement?: string): Promise<void> => {
  const payloads = replacement === undefined ? [] : [vault.seal(Buffer.from(replacement))]
  const data: DataErased = { what: 'request', subject: '', reason: 'asked', payloads: [], blobs: [], ...erased }
  const own = data.payloads.map((one) => ({ ...one, replacement: payloads[0]?.hash ?? null }))
  await log.submit({
    origin,
    lookups: {},
    decide: () => [{ stream: logStream, event: { type: 'DataErased', data: { ...data, payloads: own } } }],
    payloads,
  })
}

const of = (hash: string) => ({ hash, replacement: null })

test('erasures that are later than a backup are carried out in it, and leave what others had', async () => {
  const [liveFile, copyFile, list] = ['live.sqlite', 'copy.sqlite', 'log.jsonl'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ]
  const live = new SqliteLog({ file: liveFile, vault })
  await live.submit(writes(projectCreated(1)))
  const [early, shared, alone, kept] = [
    await serve(live, 'r0'),
    await serve(live, 'r1', 'r2', 'r3'),
    await serve(live, 'r1'),
    await serve(live, 'r4'),
  ]
  const blobs = new Blobs(join(place.path, 'blobs'))
  const [goes, stays] = [await blobs.putBytes(Buffer.from('goes')), await blobs.putBytes(Buffer.from('stays'))]
  await erase(live, { what: 'prediction', subject: '2', payloads: [of(early)] })
  copyLog(liveFile, copyFile)

  await erase(live, { subject: 'r1', payloads: [of(shared)] }, rowsOf('gone', 'r2', 'r3'))
  await erase(live, { subject: 'r1', payloads: [of(alone)] })
  const after = await serve(live, 'r9')
  await erase(live, { subject: 'r9', payloads: [of(after)] })
  const state = await live.payloadState(shared)
  await erase(live, { subject: 'r2', payloads: [of(shared), of(state?.replacedBy ?? '')] }, rowsOf('gone', 'gone', 'r3'))
  await erase(live, { what: 'file', subject: 'files.homes', blobs: [goes] })
  writeFileSync(list, (await live.readAll(0, 100)).map(({ text }) => `${text}\n`).join(''))
  await live.close()

  const copy = new SqliteLog({ file: copyFile, vault })
  const erasures = await readErasures(list)
  const before = (await copy.head()).position
  expect(erasures).toHaveLength(6)
  expect(await applyErasures({ ledger: new Ledger(copy, vault), log: copy, blobs }, erasures, origin)).toBe(4)
  expect((await copy.head()).position).toBe(before + 4)
  expect(await copy.payload(alone)).toBeUndefined()
  expect(await copy.payload(early)).toBeUndefined()
  expect(JSON.parse((await copy.payload(shared))?.toString() ?? '')).toEqual([
    { request: 'r1', row: 0, erased: true },
    { request: 'r2', row: 1, erased: true },
    { request: 'r3', row: 2, input: { of: 'r3' }, output: {} },
  ])
  expect((await copy.payload(kept))?.toString()).toBe(rowsOf('r4'))
  expect([await blobs.has(goes), await blobs.has(stays)]).toEqual([false, true])
  // What is done is not done again.
  expect(await applyErasures({ ledger: new Ledger(copy, vault), log: copy, blobs }, erasures.slice(2), origin)).toBe(0)
  await copy.close()
  expect(await verifyLog({ logFile: copyFile })).toMatchObject({ findings: [] })
})

test('an erasure of rows that is later than a backup takes the answers with rows that the backup kept, once', async () => {
  const [liveFile, copyFile, list] = ['live.sqlite', 'copy.sqlite', 'log.jsonl'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ]
  const live = new SqliteLog({ file: liveFile, vault })
  const keyed = new Ledger(live, vault).keyed(origin, { idempotency: { key: 'k', request: 'r' } })
  await live.keepReply(keyed, { status: 200, type: null, etag: null, body: 'rows of a JOIN', rows: true }, 0)
  copyLog(liveFile, copyFile)
  await erase(live, { what: 'file', subject: 'files.homes' })
  await erase(live, { what: 'before', subject: '2026-01-01T00:00:00.000000Z' })
  writeFileSync(list, (await live.readAll(0, 100)).map(({ text }) => `${text}\n`).join(''))
  await live.close()

  const copy = new SqliteLog({ file: copyFile, vault })
  const target = { ledger: new Ledger(copy, vault), log: copy, blobs: new Blobs(join(place.path, 'blobs')) }
  expect(await applyErasures(target, await readErasures(list), origin)).toBe(1)
  expect(await copy.replyTo(keyed)).toMatchObject({ status: 410 })
  expect(await applyErasures(target, await readErasures(list), origin)).toBe(0)
  await copy.close()
})

test('an erasure of rows beside others’ in a payload that cannot be read is not passed over', async () => {
  const [file, list] = [join(place.path, 'log.sqlite'), join(place.path, 'log.jsonl')]
  const log = new SqliteLog({ file, vault })
  const shared = await serve(log, 'r1', 'r2')
  const data: DataErased = {
    what: 'request',
    subject: 'r1',
    reason: null,
    payloads: [{ hash: shared, replacement: 'f'.repeat(64) }],
    blobs: [],
  }
  const event = JSON.parse((await log.readAll(0, 1))[0]?.text ?? '') as object
  writeFileSync(list, `${JSON.stringify({ ...event, position: 9, type: 'DataErased', data })}\n`)
  const db = new Database(file)
  db.exec('UPDATE payloads SET wrapped = zeroblob(length(wrapped))')
  db.close()
  const applied = applyErasures(
    { ledger: new Ledger(log, vault), log, blobs: new Blobs(join(place.path, 'blobs')) },
    await readErasures(list),
    origin,
  )
  await expect(applied).rejects.toThrow(`rows of request r1 cannot be erased: the payload ${shared} cannot be read`)
  await log.close()
})

test('a line that is longer than any event is refused before it fills the memory', async () => {
  const list = join(place.path, 'log.jsonl')
  const part = 'x'.repeat(2 ** 24)
  for (let parts = 0; parts < 6; parts++) appendFileSync(list, part)
  await expect(readErasures(list)).rejects.toThrow('has a line that is longer than an event')
})

test('erasures are found in a list that is longer than a text can be', async () => {
  const [file, list] = [join(place.path, 'log.sqlite'), join(place.path, 'log.jsonl')]
  const log = new SqliteLog({ file, vault })
  await erase(log, { what: 'file', subject: 'files.homes', blobs: ['a'.repeat(64)] })
  const { text } = (await log.readAll(0, 1))[0]!
  await log.close()
  writeFileSync(list, `${text}\n`)
  // Empty lines cost no time to parse.
  const empty = `${' '.repeat(2 ** 24)}\n`
  for (let chars = 0; chars <= constants.MAX_STRING_LENGTH; chars += empty.length) appendFileSync(list, empty)
  appendFileSync(list, text)
  expect(await readErasures(list)).toHaveLength(2)
})

test('a line that is no event is named', async () => {
  const file = join(place.path, 'list')
  writeFileSync(file, '\n{"type":"DataErased"}\n')
  await expect(readErasures(file)).rejects.toThrow(/list, line 2: not an event/)
})

test('of truths those go again that are of what was erased, by its position or its age; others in the same report stay', async () => {
  const [liveFile, copyFile, list] = ['live.sqlite', 'copy.sqlite', 'log.jsonl'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ]
  const live = new SqliteLog({ file: liveFile, vault })
  for (const request of ['r1', 'r2', 'r3']) await serve(live, request)
  const truths = (left: readonly number[]) =>
    JSON.stringify(
      [1, 2, 3].map((position) => {
        const row = { position, request: `r${position}`, row: 0 }
        return left.includes(position) ? { ...row, truth: position * 10, probability: null } : { ...row, erased: true }
      }),
    )
  const payload = vault.seal(Buffer.from(truths([1, 2, 3])))
  const predictions = [1, 2, 3].map((position) => ({ position, version: 1, request: `r${position}`, rows: [0] }))
  const data = { model: stream(5), rows: 3, predictions, payload: payload.hash }
  const report = writes({ stream: predictionsStream(stream(5)), event: { type: 'OutcomesReported', data } })
  await live.submit({ ...report, payloads: [payload] })
  const [, second] = await live.readAll(0, 2)
  const { recorded_at: time } = JSON.parse(second!.text) as { recorded_at: string }
  copyLog(liveFile, copyFile)
  await erase(live, { what: 'before', subject: time, payloads: [of(payload.hash)] }, truths([2, 3]))
  const state = await live.payloadState(payload.hash)
  await erase(live, { what: 'prediction', subject: '3', payloads: [of(payload.hash), of(state?.replacedBy ?? '')] }, truths([2]))
  writeFileSync(list, (await live.readAll(0, 100)).map(({ text }) => `${text}\n`).join(''))
  const expected = (await live.payload(payload.hash))?.toString()
  await live.close()

  const copy = new SqliteLog({ file: copyFile, vault })
  const target = { ledger: new Ledger(copy, vault), log: copy, blobs: new Blobs(join(place.path, 'blobs')) }
  expect(await applyErasures(target, await readErasures(list), origin)).toBe(2)
  expect((await copy.payload(payload.hash))?.toString()).toBe(expected)
  expect(expected).toBe(truths([2]))
  await copy.close()
})
