import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance, type DuckDBAppender, type DuckDBDataChunk } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { encodeVectors, Vector } from '../../../src/connections/batch/vector.js'
import { encodeBatch, encodeColumns, encodeEnd } from '../../../src/connections/contract/frames.js'
import { plain } from '../../../src/connections/contract/types.js'
import { AnswerReader, appendAnswer } from '../../../src/connections/reader/read-answer.js'
import { readIntoTable } from '../../support/connections/answers.js'

const mebibyte = 1024 * 1024
const batches = 256
const rowsOfBatch = 64
const rowBytes = 64 * 1024
/** What this process may take more while it reads; the rows have more than twice as many bytes. */
const memoryMaxBytes = 400 * mebibyte

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'large-answers-'))
})
afterAll(() => {
  rmSync(directory, { recursive: true, force: true })
})

/** A batch of texts of `rowBytes`. */
const wideRows = (): Buffer => {
  const vector = new Vector(plain('VARCHAR'))
  for (let row = 0; row < rowsOfBatch; row++) vector.setText(row, 'x'.repeat(rowBytes))
  return encodeVectors([vector], rowsOfBatch)
}

/** Sends the answer to whoever presents a ticket, at the pace of the reader. `onSent` gets the number of each batch. */
const answerTo = async (socket: Socket, count: number, onSent: (batch: number) => void = () => undefined): Promise<void> => {
  const batch = wideRows()
  await once(socket, 'data')
  socket.write(encodeColumns([{ name: 'note', type: plain('VARCHAR') }], 'SELECT note FROM notes'))
  for (let i = 0; i < count; i++) {
    onSent(i + 1)
    for (const piece of encodeBatch(batch)) if (!socket.write(piece)) await once(socket, 'drain')
  }
  socket.end(encodeEnd({ rows: count * rowsOfBatch, bytes: count * batch.length }))
}

test('rows that are wide but few wait in bounded memory until their table has them', async () => {
  const socket = join(directory, 'answers')
  const server = createServer((reader) => void answerTo(reader, batches)).listen(socket)
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '100MB', temp_directory: join(directory, 'spill') })
  const db = await instance.connect()
  const before = process.memoryUsage.rss()
  let peak = before
  const look = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
  try {
    await readIntoTable(db, { socket, ticket: 'ticket' }, 'notes')
    const found = await db.runAndReadAll('SELECT count(*) FROM notes')
    expect(found.getRowsJson()).toEqual([[String(batches * rowsOfBatch)]])
  } finally {
    clearInterval(look)
    db.closeSync()
    instance.closeSync()
    server.close()
  }
  expect(peak - before).toBeLessThan(memoryMaxBytes)
})

test('a bounded part of the rows waits outside of the memory of a query, whatever the answer has', async () => {
  const socket = join(directory, 'counted')
  let [sent, taken, waiting] = [0, 0, 0]
  const most = { underway: 0, waiting: 0 }
  const server = createServer((reader) => void answerTo(reader, batches / 4, (batch) => (sent = batch))).listen(socket)
  const appender = {
    appendDataChunk: (chunk: DuckDBDataChunk) => {
      taken += 1
      waiting += chunk.rowCount * rowBytes
      most.underway = Math.max(most.underway, sent - taken)
      most.waiting = Math.max(most.waiting, waiting)
    },
    flushSync: () => (waiting = 0),
  }
  const answer = await AnswerReader.open({ socket, ticket: 'ticket' })
  await appendAnswer(answer, appender as unknown as DuckDBAppender)
  server.close()
  expect([taken, waiting]).toEqual([batches / 4, 0])
  expect(most.underway).toBeLessThanOrEqual(2)
  expect(most.waiting).toBeLessThanOrEqual(limits.connectionAppendMaxBytes + rowsOfBatch * rowBytes)
})
