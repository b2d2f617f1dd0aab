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
import { bodyOf, textUpTo, type Reply } from '../../../src/http/protocol/reply.js'
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

const gone = new AbortController().signal

/** The pieces of a reply whose text was not taken to be kept. */
const piecesOf = (read: string | Reply): AsyncIterable<string | Buffer> => {
  const body = typeof read === 'string' ? undefined : bodyOf(read)
  if (!body || 'whole' in body) throw new Error('its text was taken')
  return body.stream.pieces
}

const allOf = async (pieces: AsyncIterable<string | Buffer>): Promise<string> => {
  let all = ''
  for await (const piece of pieces) all += piece.toString()
  return all
}

test.each(['json', 'jsonlines', 'sse'] as const)('%s that ends in an error is sent, and not taken to be kept', async (format) => {
  const read = await textUpTo(replyOf(broken('json'), format, gone), Infinity)
  expect(await allOf(piecesOf(read))).toContain('"error_message":"it broke"')
})

test('an answer that is too long to be kept is sent whole, and its rows end with their reader', async () => {
  const ended: boolean[] = []
  const answer = (): SqlAnswer => {
    const rows = async function* () {
      try {
        for (let n = 0; n < 9; n++) yield Buffer.from(`[${n}]`)
      } finally {
        ended.push(true)
      }
    }
    const context = { db: 'shop', show_secrets: false } as const
    return { type: 'table', columns: [{ name: 'a', type: 'INTEGER' }], rows: rows(), format: 'json', context, positions: [] }
  }
  const reply = () => replyOf(answer(), 'jsonlines', gone)
  const whole = await textUpTo(reply(), Infinity)
  expect(whole).toMatch(/\[\[0\]\]\n(?:.*\n)*\[\[8\]\]\n$/)
  expect(await allOf(piecesOf(await textUpTo(reply(), 120)))).toBe(whole)
  expect(ended).toHaveLength(2)
  for await (const _ of piecesOf(await textUpTo(reply(), 120))) break
  expect(ended).toHaveLength(3)
})
