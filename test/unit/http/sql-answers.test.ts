import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import express, { type Response } from 'express'
import { expect, test } from '@jest/globals'
import { Problem } from '../../../src/basics/errors.js'
import { problemReply } from '../../../src/http/server/problem.js'
import { send } from '../../../src/http/server/send.js'
import { replyOf } from '../../../src/http/reads/sql-answers.js'
import type { SqlAnswer } from '../../../src/sql/contract/answer.js'

const problem = new Problem('query_failed', 'The query failed', 'it broke')

/** An answer whose rows fail right behind the first ones, before those have been sent. */
const broken = (format: 'csv' | 'json'): SqlAnswer => {
  const rows = async function* () {
    yield Buffer.from(format === 'csv' ? '1\r\n' : '[1]')
    await Promise.reject(problem)
  }
  const context = { db: 'shop', show_secrets: false } as const
  return { type: 'table', columns: [{ name: 'a', type: 'INTEGER' }], rows: rows(), format, context, positions: [] }
}

/** What a client gets of it that asked for something else before, and has no answer to that yet. */
const sent = async (format: 'csv' | 'json') => {
  const faults: unknown[] = []
  let first: Response | undefined
  const app = express()
    .get('/first', (_, res) => {
      first = res
    })
    .get('/', async (_, res) => {
      res.on('error', (error) => faults.push(error))
      const reply = replyOf(broken(format), format, new AbortController().signal)
      await send(res, reply, {}).catch(() => send(res, problemReply(problem, 'r'), {}))
      await setImmediate()
      await setImmediate()
      first?.end('first')
    })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET /first HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const all = await text(socket)
  server.close()
  return { answer: all.slice(all.lastIndexOf('HTTP/1.1')), faults }
}

test('CSV that fails before anything of it was sent is a problem, and nothing is written behind it', async () => {
  const { answer, faults } = await sent('csv')
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect(answer).toContain('"detail":"it broke"')
  expect(faults).toEqual([])
})

test('JSON that fails behind its first rows says so', async () => {
  const { answer, faults } = await sent('json')
  expect(answer).toMatch(/^HTTP\/1.1 200 /)
  expect(answer).toContain('"error_message":"it broke"')
  expect(answer).not.toContain('"data"')
  expect(faults).toEqual([])
})
