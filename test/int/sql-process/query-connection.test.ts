import { upToDate } from '../../../src/sql/relations/projections.js'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { begunFrame } from '../../../src/sql-process/contract/frames.js'
import { Answer, QueryConnection, type ConnectionEvents } from '../../../src/sql-process/query-connection.js'
import { createQueryServer } from '../../../src/sql-process/process/query-server.js'
import type { Frame, SelectRequest } from '../../../src/sql/contract/select.js'

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'line-'))
  path = join(directory, 'x.sock')
})
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
  rmSync(directory, { recursive: true, force: true })
})

const request = (sql: string): SelectRequest => ({ sql, db: '', defaultProject: '', upTo: 0 })

/** What a line tells, in its order, and a way to wait for it. */
const told = () => {
  const said: string[] = []
  const waiting = new Map<string, () => void>()
  const say = (word: string) => {
    said.push(word)
    waiting.get(word)?.()
  }
  const events: ConnectionEvents = {
    onBegun: (query) => say(`begun ${query}`),
    onEnded: (query) => say(`ended ${query}`),
    onAsked: () => Promise.reject(new Error('nobody asks')),
    onIdle: () => say('idle'),
    onClosed: (_, query) => say(`closed ${query ?? ''}`),
  }
  const heard = (word: string) => new Promise<void>((resolve) => (said.includes(word) ? resolve() : waiting.set(word, resolve)))
  return { said, events, heard }
}

const end: Frame = { end: { rows: 0, scored: [] } }

const serve = async (run: (request: SelectRequest, signal: AbortSignal) => AsyncIterable<Frame>, ensure = () => Promise.resolve()) => {
  const server = createQueryServer({
    arrived: ({ upTo }) => upToDate(upTo),
    ensure,
    run: (request, { signal }) => run(request, signal),
    onBegun: () => undefined,
    onEnded: () => undefined,
  })
  server.on('connection', (line) => closers.push(() => line.destroy()))
  closers.push(() => server.close())
  await once(server.listen(path), 'listening')
}

test('a query whose line is lost while it executes is not said to have ended', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(begunFrame, () => socket.destroy()))
  })
  closers.push(() => server.close())
  await once(server.listen(path), 'listening')
  const { said, events, heard } = told()
  const answer = new QueryConnection(path, events).ask(7, request('SELECT 1'))
  expect(await answer.next()).toEqual({ begun: true })
  await expect(answer.next()).rejects.toThrow()
  await heard('closed 7')
  expect(said).toEqual(['begun 7', 'closed 7'])
})

test('a line is idle when its query has ended, and a cancelled one says nothing to the next', async () => {
  const stopped: string[] = []
  await serve(async function* ({ sql }, signal) {
    yield { columns: [] }
    yield { rows: Buffer.from(sql) }
    if (sql === 'endless') {
      await once(signal, 'abort')
      stopped.push(sql)
    }
    yield end
  })
  const { said, events, heard } = told()
  const line = new QueryConnection(path, events)
  const endless = line.ask(1, request('endless'))
  for (const part of ['begun', 'columns', 'rows']) expect(await endless.next()).toHaveProperty(part)
  endless.stop(new Error('gone'))
  await expect(endless.next()).rejects.toThrow('gone')
  await heard('idle')
  expect(stopped).toEqual(['endless'])
  const next = line.ask(2, request('short'))
  endless.stop(new Error('gone again'))
  const frames = [await next.next(), await next.next(), await next.next(), await next.next()]
  expect(frames).toEqual([{ begun: true }, { columns: [] }, { rows: Buffer.from('short') }, { end: { rows: 0, scored: [] } }])
  await heard('ended 2')
  expect(said).toEqual(['begun 1', 'ended 1', 'idle', 'begun 2', 'ended 2', 'idle'])
})

test('a query that is cancelled while the tables catch up gives its line back before they have', async () => {
  const run = jest.fn(async function* () {
    yield end
  })
  await serve(run, () => new Promise(() => undefined))
  const { said, events, heard } = told()
  const waiting = new QueryConnection(path, events).ask(1, request('SELECT 1'))
  waiting.stop(new Error('gone'))
  await expect(waiting.next()).rejects.toThrow('gone')
  await heard('idle')
  expect(said).toEqual(['ended 1', 'idle'])
  expect(run).not.toHaveBeenCalled()
})

test('what is read of a whole answer does not open the line that another one holds', () => {
  const flow: string[] = []
  const answer = new Answer({ pause: () => flow.push('pause'), resume: () => flow.push('resume') }, () => flow.push('cancel'))
  answer.give({ begun: true })
  answer.give({ rows: Buffer.from('[1]') })
  answer.fail(new Error('no more'))
  flow.length = 0
  return Promise.all([answer.next(), answer.next(), expect(answer.next()).rejects.toThrow('no more')]).then(() => expect(flow).toEqual([]))
})
