import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Event } from '@event-driven-io/emmett'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Envelope } from '../../../events/stored/envelope.js'
import { replay } from '../../../projections/replay.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { emmettLog } from '../../../src/log/index.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { rebuildResources } from '../../../src/log/sqlite/rebuild.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { mindledger } from '../../support/cli.js'
import { connect } from '../../support/log/event-stream-client.js'
import { tamperWith } from '../../support/log/log.js'
import { rowsOf } from '../../support/log/states.js'
import { restartable, send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const service = restartable()
let url: string
/** Where the foreign events stand. */
const positions: number[] = []

const append = async (...events: Event[]) => {
  const running = service.running()
  if (!running) throw new Error('the service does not run')
  const { eventStore } = emmettLog(running.log, { actor: 'billing' })
  const { lastEventGlobalPosition } = await eventStore.appendToStream('invoice-7', events)
  for (let i = events.length; i > 0; i--) positions.push(Number(lastEventGlobalPosition) - i + 1)
}

const verified = () => verifyLog({ logFile: dataPaths(service.path).log })

beforeAll(async () => {
  url = await service.start()
  await sql(url, 'CREATE PROJECT shop')
  await append({ type: 'InvoiceIssued', data: { amount: 10, note: 'with "quotes", \\ and ü', blob: { artefact: '8e0f' } } })
  await sql(url, `CREATE ML_ENGINE e FROM onnx`)
  await append({ type: 'InvoicePaid', data: { payload: 'a' } }, { type: 'InvoiceSent', data: {} })
})
afterAll(() => service.remove())

test('log.events has them as they are stored, and their data as JSON', async () => {
  const { data } = await sql(url, `SELECT position, version, type, actor, source, data FROM log.events WHERE stream = 'invoice-7'`)
  expect(data.map((row) => [...row.slice(0, -1), JSON.parse(String(row.at(-1))) as unknown])).toEqual([
    [
      positions[0],
      1,
      'invoice.InvoiceIssued',
      'billing',
      'system',
      { amount: 10, note: 'with "quotes", \\ and ü', blob: { artefact: '8e0f' } },
    ],
    [positions[1], 2, 'invoice.InvoicePaid', 'billing', 'system', { payload: 'a' }],
    [positions[2], 3, 'invoice.InvoiceSent', 'billing', 'system', {}],
  ])
  const sum = `SELECT sum((data->>'$.amount')::INT) FROM log.events WHERE type = 'invoice.InvoiceIssued'`
  expect((await sql(url, sum)).data).toEqual([[10]])
  const { data: earlier } = await sql(
    url,
    `SELECT count(*) FROM log.events AT (VERSION => ${positions[1] ?? 0}) WHERE stream = 'invoice-7'`,
  )
  expect(earlier).toEqual([[2]])
})

test('tables of resources know nothing of them', async () => {
  expect((await sql(url, `SELECT count(*) FROM log.resources WHERE stream = 'invoice-7'`)).data).toEqual([[0]])
  const running = service.running()
  expect((await running?.log.resources.list('project'))?.map(({ state }) => state.name)).toEqual(['mindsdb', 'shop'])
})

test('the events’ own addresses have them: by stream, by type, as CloudEvents, one by one, and as they come', async () => {
  const ask = async (query: string) => (await send(url, 'GET', `/api/events?${query}`)).body as { events: Envelope[] }
  expect((await ask('stream=invoice-7')).events.map(({ position }) => position)).toEqual(positions)
  expect((await ask('type=invoice.InvoicePaid,invoice.InvoiceSent')).events.map(({ position }) => position)).toEqual(positions.slice(1))
  expect((await ask('kind=project')).events.map(({ type }) => type)).toEqual(['ProjectCreated', 'ProjectCreated'])
  expect((await ask('project=shop')).events.map(({ type }) => type)).toEqual(['ProjectCreated'])
  expect((await send(url, 'GET', '/api/events?type=InvoicePaid')).status).toBe(400)
  const cloud = (await ask('stream=invoice-7&format=cloudevents&limit=1')).events[0]
  expect(cloud).toMatchObject({ type: 'invoice.InvoiceIssued', subject: 'invoice-7', actor: 'billing', streamversion: 1 })
  expect((await send(url, 'GET', `/api/events/${positions[0] ?? 0}`)).body).toMatchObject({ type: 'invoice.InvoiceIssued' })
  const client = await connect(`${url}/api/events/stream?type=invoice.InvoiceReminded`)
  await append({ type: 'InvoiceReminded', data: { days: 30 } })
  await until(() => client.parser.messages.length > 0)
  expect(client.parser.messages[0]).toMatchObject({ event: 'invoice.InvoiceReminded', id: String(positions.at(-1)) })
  client.cut()
})

test('metrics count them together', async () => {
  const { body } = await send(url, 'GET', '/api/metrics')
  expect(String(body)).toContain('type="foreign"')
  expect(String(body)).not.toContain('InvoiceIssued')
})

test('an erasure takes nothing of them, and goes on as ever', async () => {
  const { status, body } = await send(url, 'POST', '/api/log/erasures', { before: '2999-01-01' })
  expect({ status, body }).toMatchObject({ status: 200, body: { payloads: 0, positions: [] } })
  expect((await verified()).ok).toBe(true)
})

test('an export has them, and the offline verifier accepts it; that of a project leaves them out', async () => {
  const paths = [join(service.path, 'whole.jsonl'), join(service.path, 'shop.jsonl'), join(service.path, 'verifier.mjs')] as const
  const get = async (path: string) => (await fetch(url + path)).text()
  const [whole, shop] = [await get('/api/log/export'), await get('/api/log/export?project=shop')]
  writeFileSync(paths[0], whole)
  writeFileSync(paths[1], shop)
  writeFileSync(paths[2], await get('/api/log/verifier'))
  expect([whole.includes('invoice.InvoiceIssued'), shop.includes('invoice.InvoiceIssued')]).toEqual([true, false])
  for (const file of [paths[0], paths[1]]) {
    const { status, stdout } = spawnSync(process.execPath, [paths[2], file], { encoding: 'utf8' })
    expect({ status, stdout }).toMatchObject({ status: 0 })
  }
})

test('verify walks over them, and finds one that was changed', async () => {
  await service.stop()
  expect(await verified()).toMatchObject({ ok: true, findings: [] })
  const cli = await mindledger(['verify', '--data-dir', service.path])
  expect(cli.err + cli.out).not.toContain('not an event')
  const copy = join(service.path, 'copy.sqlite')
  const db = new Database(dataPaths(service.path).log)
  await db.backup(copy)
  db.close()
  tamperWith(copy, (open) =>
    open.exec(`UPDATE events SET text = replace(text, '"amount":10', '"amount":11') WHERE position = ${positions[0] ?? 0}`),
  )
  const { findings } = await verifyLog({ logFile: copy })
  expect(findings).toEqual([{ position: positions[0], what: 'the text is not the one that was chained here' }])
})

test('a replay and a rebuild pass over them, and the service starts again with both', async () => {
  const reader = openLogReader(service.path)
  const database = await DuckDBInstance.create(':memory:')
  expect(await replay({ events: reader, payloads: reader, database })).toBe(reader.head())
  const connection = await database.connect()
  const rows = await rowsOf(connection, `SELECT position, type FROM ledger.events WHERE stream = 'invoice-7' ORDER BY 1`)
  expect(rows.map(({ position }) => position)).toEqual(positions)
  connection.closeSync()
  database.closeSync()
  reader.close()
  const db = new Database(dataPaths(service.path).log)
  expect(rebuildResources(db)).toBe((await verified()).head.position)
  db.close()
  url = await service.start()
  expect((await sql(url, `SELECT count(*) FROM log.events WHERE stream = 'invoice-7'`)).data).toEqual([[positions.length]])
})

test('ten thousand types of others are followed as fast as one', async () => {
  for (let i = 0; i < 10; i++) await append(...Array.from({ length: 1_000 }, (_, k) => ({ type: `Type${i * 1_000 + k}`, data: { k } })))
  const { data } = await sql(url, `SELECT count(DISTINCT type) FROM log.events WHERE stream = 'invoice-7'`)
  expect(data).toEqual([[10_004]])
})
