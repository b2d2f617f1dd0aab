import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { toMysql } from '../../support/connections/beside-mysql.js'
import { endOfAnswer, mysqlThat, oneColumn, packet } from '../../support/connections/mysql-server.js'
import { startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { proxyTo, type Listening } from '../../support/connections/proxy.js'
import { until } from '../../support/until.js'

const mebibyte = 1024 * 1024
const [wide, blockRows, blocks] = [10_000, 256, 100]
const rows = blockRows * blocks
/** The bytes between a database and the reader of its answer: buffers of the system on the way, a few steps, and a batch. */
const underwayMaxBytes = 40 * mebibyte
const batchMaxBytes = 5 * mebibyte

let connections: Connections
let postgres: Postgres
let mysql: Listening

/** Rows of one wide text, whose numbers go on from one block to the next. */
const block = Buffer.concat(
  Array.from({ length: blockRows }, (_, i) => packet((4 + i) & 0xff, Buffer.from([0xfc, wide & 0xff, wide >> 8]), Buffer.alloc(wide, 'x'))),
)

beforeAll(async () => {
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  postgres = await startPostgres()
  mysql = await mysqlThat((socket) => {
    const send = async () => {
      socket.write(oneColumn)
      for (let i = 0; i < blocks; i++) if (!socket.write(block)) await once(socket, 'drain')
      socket.write(endOfAnswer(4))
    }
    // The service leaves before the end.
    send().catch(() => undefined)
  })
})
afterAll(async () => {
  connections.stop()
  await mysql.stop()
  await postgres.stop()
})

/** Waits until nothing more comes without a reader. */
const standsStill = async (passed: () => number): Promise<void> => {
  let [equal, last] = [0, -1]
  while (equal < 10) {
    await sleep(20)
    equal = passed() === last ? equal + 1 : 0
    last = passed()
  }
}

const wideRows = `SELECT repeat('x', ${wide}) AS x FROM generate_series(1, ${rows})`

const databases: readonly (readonly [name: string, port: () => number, connection: (port: number) => Connection])[] = [
  ['PostgreSQL', () => postgres.port, (port) => postgres.connection({ port, sslmode: 'disable' })],
  ['MySQL', () => mysql.port, (port) => toMysql({ port })],
]

test.each(databases)('%s keeps a large answer until it is read, and few batches are on their way', async (_, port, connection) => {
  const proxy = await proxyTo(port(), () => undefined)
  const answer = await AnswerReader.open(await connections.open(connection(proxy.port), { native: wideRows }))
  let [read, batches, underway, largest] = [0, 0, 0, 0]
  let before = 0
  for await (const chunk of answer.chunks(true)) {
    read += chunk.rowCount
    if (batches++ % 40 === 0) await standsStill(proxy.passed)
    underway = Math.max(underway, proxy.passed() - before)
    largest = Math.max(largest, answer.bytes - before)
    before = answer.bytes
  }
  await proxy.stop()
  expect([read, answer.bytes > 2 * underwayMaxBytes]).toEqual([rows, true])
  expect(largest).toBeLessThan(batchMaxBytes)
  expect(underway).toBeLessThan(underwayMaxBytes)
})

test.each(databases)('%s sends little beyond the limit of bytes', async (_, port, connection) => {
  const proxy = await proxyTo(port(), () => undefined)
  const most = 16 * mebibyte
  const opened = await connections.open(connection(proxy.port), { native: wideRows }, { bytes: most })
  const answer = await AnswerReader.open(opened)
  const read = async () => {
    for await (const chunk of answer.chunks(true)) expect(chunk.rowCount).toBeGreaterThan(0)
  }
  await expect(read()).rejects.toMatchObject({ code: 'query_limit', detail: expect.stringContaining('(connectionMaxBytes)') as unknown })
  expect(await opened.ended).toMatchObject({ ending: 'cut' })
  await until(() => proxy.open() === 0)
  await proxy.stop()
  expect(answer.bytes).toBeLessThan(most + batchMaxBytes)
  // What a database sends until it hears that it is to stop has the limit of a step.
  expect(proxy.passed()).toBeLessThan(most + limits.connectionReadMaxBytes + underwayMaxBytes)
})
