import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { Connection as MysqlClient } from 'mysql2'
import { limits } from '../../../src/basics/limits.js'
import type { Rows } from '../../../src/connections/batch/column-reading.js'
import { FrameReader, type Frame } from '../../../src/connections/contract/frames.js'
import { plain } from '../../../src/connections/contract/types.js'
import type { Cursor, DatabaseSession } from '../../../src/connections/engines/contract/engine.js'
import { Reader } from '../../../src/connections/engines/mysql/cursor.js'
import { Answer } from '../../../src/connections/process/answer.js'
import { HeldBytes } from '../../../src/connections/process/held-bytes.js'
import { Pool } from '../../../src/connections/process/pool.js'

const mebibyte = 1024 * 1024

/** An answer that gives the same rows a number of times, to a socket that nobody reads yet. */
const answerOf = (columns: number, rows: Rows, times: number) => {
  const seen = { asked: 0, closed: 0 }
  const cursor: Cursor = {
    columns: Array.from({ length: columns }, (_, i) => ({ name: `c${i}`, type: plain('VARCHAR') })),
    sent: 'SELECT 1',
    next: async () => (seen.asked++ < times ? rows : undefined),
    close: async () => {
      seen.closed += 1
      return true
    },
  }
  const session = { isLost: false, isAtomic: true, received: 0, open: async () => cursor, destroy: () => undefined }
  const socket = new PassThrough()
  const limit = { rows: 10_000_000, bytes: 1024 * mebibyte, timeMs: 600_000, firstRowMs: 600_000 }
  const answer = new Answer(
    socket as unknown as Socket,
    new Pool(async () => session as unknown as DatabaseSession),
    { query: { native: 'SELECT 1' }, limit, onSend: () => undefined },
    new HeldBytes(limits.connectionsReadMaxBytes),
  )
  return { seen, socket, outcome: answer.send() }
}

/** All frames of an answer. */
const framesOf = async ({ socket, outcome }: ReturnType<typeof answerOf>): Promise<Frame[]> => {
  const [frames, reader] = [[] as Frame[], new FrameReader()]
  socket.on('data', (chunk: Buffer) => frames.push(...reader.push(chunk)))
  await outcome
  await setImmediate()
  return frames
}

test('rows are asked for only as they are read', async () => {
  const [step, times] = [mebibyte, 64]
  const rows: Rows = {
    count: 16,
    bytes: step,
    put: ([vector], from, to) => {
      for (let row = from; row < to; row++) vector?.setText(row - from, 'x'.repeat(step / 16))
    },
  }
  const { seen, socket, outcome } = answerOf(1, rows, times)
  let [read, most] = [0, 0]
  while (seen.closed === 0) {
    // Everything happens now that happens without a reader.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    most = Math.max(most, seen.asked * step - read)
    read += (socket.read() as Buffer | null)?.length ?? 0
  }
  socket.resume()
  expect(await outcome).toMatchObject({ ending: 'complete', rows: 16 * times })
  expect(read).toBeGreaterThan((times - 2) * step)
  expect(most).toBeLessThanOrEqual(3 * step)
})

test('a batch of many columns has few rows, also if all of them are NULL', async () => {
  const [columns, count] = [limits.connectionAnswerMaxColumns, 512]
  let room = 0
  const rows: Rows = {
    count,
    bytes: columns * count,
    put: (vectors, from, to) => {
      room = Math.max(
        room,
        vectors.reduce((sum, { data }) => sum + data.length, 0),
      )
      for (const vector of vectors) for (let row = from; row < to; row++) vector.setNull(row - from)
    },
  }
  const batches = (await framesOf(answerOf(columns, rows, 1))).flatMap((frame) => ('batch' in frame ? [frame.batch] : []))
  expect(batches.reduce((sum, batch) => sum + batch.readUInt32LE(0), 0)).toBe(count)
  expect(room).toBeLessThanOrEqual(4 * mebibyte)
  expect(Math.max(...batches.map(({ length }) => length))).toBeLessThan(5 * mebibyte)
})

test('an answer with more columns than the limit is refused before its rows', async () => {
  const columns = limits.connectionAnswerMaxColumns + 1
  const refused = answerOf(columns, { count: 1, bytes: 1, put: () => undefined }, 1)
  expect(await framesOf(refused)).toMatchObject([
    {
      error: {
        code: 'query_limit',
        detail: `The answer of the connected database has ${columns} columns, and may have ${columns - 1} (connectionAnswerMaxColumns)`,
        extras: { hint: 'Name the columns that you need instead of *.' },
      },
    },
  ])
  expect(refused.seen).toEqual({ asked: 0, closed: 1 })
})

test.each<[value: string | null, columns: number, most: number]>([
  ['', 1_000, 132],
  ['', 1, 16_384],
  ['1', 1_000, 132],
  [null, 4_096, 33],
  ['x'.repeat(64 * 1024), 1, 17],
])('a step of MySQL holds few values and few bytes: with %j in each of %i columns', async (value, columns, most) => {
  const query = Object.assign(new EventEmitter(), { execute: () => false })
  const flow = { isPaused: false }
  const client = Object.assign(new EventEmitter(), {
    query: () => query,
    pause: () => (flow.isPaused = true),
    resume: () => (flow.isPaused = false),
  })
  const reader = new Reader(client as unknown as MysqlClient, 'SELECT 1')
  const reading = reader.read(16_384)
  const row = Array.from({ length: columns }, () => (value === null ? null : Buffer.from(value)))
  let sent = 0
  for (; !flow.isPaused && sent < 20_000; sent++) query.emit('result', row, 0)
  const { rows, bytes } = await reading
  expect([sent, rows.length]).toEqual([rows.length, sent])
  expect(sent).toBeLessThanOrEqual(most)
  // An empty value takes a byte as well.
  expect(bytes).toBeGreaterThanOrEqual(rows.length * columns)
})
