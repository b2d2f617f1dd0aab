import type { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { residentBytes } from '../../../src/basics/resident-memory.js'
import { duck, problemOf, readAll } from '../../support/connections/answers.js'
import { repeatedly } from '../../support/connections/flood.js'
import { startBesideMysql, toMysql } from '../../support/connections/beside-mysql.js'
import { column, moreAnswers, mysqlThat, oneColumn, packet } from '../../support/connections/mysql-server.js'
import { until } from '../../support/until.js'

/** What the process of the drivers may hold at most; without bounds each of these floods takes several times as much. */
const memoryMaxBytes = 400 * 1024 * 1024

const { connections, expectOthersRead } = startBesideMysql()

/** The same packets again and again, with numbers that go on from one to the next. */
const endless = (first: number, ...bodies: readonly Buffer[]): Buffer => {
  const count = 256 * 32
  return Buffer.concat(Array.from({ length: count }, (_, index) => packet((first + index) & 0xff, bodies[index % bodies.length] ?? '')))
}

const body = (whole: Buffer): Buffer => whole.subarray(4)

const after = (begin: Buffer, flood: Buffer) => (socket: Socket) => {
  socket.write(begin)
  repeatedly(flood)(socket)
}

const anyColumns = packet(1, Buffer.from([0xfe, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]))
const longRow = Buffer.concat([Buffer.from([0xfe]), Buffer.alloc(8, 0x7f), Buffer.alloc(0xffffff - 9, 'x')])

const floods: readonly (readonly [name: string, flood: (socket: Socket) => void, says: RegExp])[] = [
  ['columns', after(anyColumns, endless(2, body(column(0)))), /packets that are not rows/],
  ['results without rows', repeatedly(endless(1, body(moreAnswers(0)))), /answers to one statement/],
  ['packets out of order', after(oneColumn, Buffer.concat(Array.from({ length: 10_000 }, () => packet(77, '\x01x')))), /broke off/],
  ['a value that never ends', after(Buffer.concat([oneColumn, packet(4, longRow)]), packet(5, longRow)), /more than \d+ bytes/],
]

test.each(floods)('%s without end: the statement ends, and others are answered in bounded memory', async (_, flood, says) => {
  const server = await mysqlThat(flood)
  let peak = 0
  const look = setInterval(() => {
    for (const pid of connections.pids) void residentBytes(pid).then((bytes) => (peak = Math.max(peak, bytes)))
  }, 20)
  try {
    const asked = Array.from({ length: 3 }, async () => problemOf(readAll(await duck(), connections, toMysql(server), 'SELECT x FROM t')))
    await expectOthersRead()
    for (const problem of await Promise.all(asked)) expect(problem.detail).toMatch(new RegExp(`${says.source}|at once`))
    expect(peak).toBeLessThan(memoryMaxBytes)
    await until(() => server.open() === 0)
    expect(connections.pids).toHaveLength(1)
  } finally {
    clearInterval(look)
    await server.stop()
  }
})

test('rows that answer the setting up of a session: it is not opened, in bounded memory', async () => {
  const server = await mysqlThat(() => undefined, after(oneColumn, endless(4, Buffer.from('\x01x'))))
  const checked = await connections.check(toMysql(server))
  expect(checked).toMatchObject({ status: 'connection_error', detail: expect.stringMatching(/broke off|more than \d+ rows/) as unknown })
  await until(() => server.open() === 0)
  await server.stop()
})
