import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import express from 'express'
import { stream } from '../../../src/http/protocol/reply.js'
import { send } from '../../../src/http/server/send.js'

const piece = 'a'.repeat(20_000)
const pieces = 200

/** A long answer, several pieces at a time. */
async function* longAnswer(): AsyncGenerator<string, void, void> {
  for (let n = 0; n < pieces; n++) yield piece
}

test('a long answer comes whole where uncork loses drain, as in Node 22 and 24', async () => {
  const app = express()
  app.get('/', async (_, res) => {
    let isCorked = false
    const [cork, emit] = [res.cork.bind(res), res.emit.bind(res)]
    res.cork = () => {
      isCorked = true
      cork()
    }
    res.emit = (name: string | symbol, ...told: unknown[]) => (name === 'drain' && isCorked ? false : emit(name, ...told))
    await send(res, stream('text/plain', { pieces: longAnswer(), stallMs: 2_000 }), {})
  })
  const server = app.listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect((await answer.text()).length).toBe(pieces * piece.length)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
