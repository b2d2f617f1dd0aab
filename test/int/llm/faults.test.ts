import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { parseEgress } from '../../../src/egress/policy.js'
import type { LanguageModel } from '../../../src/llm/contract/language-model.js'
import { failure, hear, modelsHere, question, settingsAt } from '../../support/llm/models.js'
import { chunk, event, last, RawServer, stream, type Answering } from '../../support/llm/raw-server.js'

const server = new RawServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => server.reset())

const key = 'key-of-the-agent-1'
const anthropic = { wire: 'anthropic', provider: 'anthropic', model: 'claude-test' } as const
const wires = ['openai', 'anthropic'] as const
const modelOf = (wire: (typeof wires)[number], models = modelsHere()): LanguageModel =>
  models.of(settingsAt(`${server.url}/v1`, wire === 'anthropic' ? anthropic : {}))

const fails = (answer: Answering, model = modelOf('openai')) => {
  server.answer = answer
  return failure(hear(model, question('hi')))
}

/** Waits until more can be written, or the client has left. What listens to the other one of the two ends as well. */
const drainedOrLeft = async (response: ServerResponse): Promise<void> => {
  const over = new AbortController()
  const { signal } = over
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).finally(() => over.abort())
}

/** The first part of an answer, as each of the two writes it. */
const begin = (response: ServerResponse, wire: (typeof wires)[number]): ServerResponse => {
  stream(response)
  if (wire === 'openai') response.write(chunk({ content: 'The begin' }))
  else {
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    response.write(`event: message_start\n${event({ type: 'message_start', message })}`)
    response.write(
      `event: content_block_start\n${event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}`,
    )
    response.write(
      `event: content_block_delta\n${event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'The begin' } })}`,
    )
  }
  return response
}

describe.each(wires)('a server of the wire %s', (wire) => {
  test('gets the key in its header, and an error never repeats it', async () => {
    const headers: unknown[] = []
    const error = await fails((response, asked) => {
      headers.push(asked.headers['authorization'] ?? asked.headers['x-api-key'])
      response.writeHead(400, { 'content-type': 'application/json', 'x-echo': key })
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', message: `you sent ${JSON.stringify(asked.headers)}` }, key }))
    }, modelOf(wire))
    expect(headers).toEqual([wire === 'openai' ? `Bearer ${key}` : key])
    expect(error.detail).toContain('you sent')
    expect(JSON.stringify([error, error.stack, error.extras])).not.toContain(key)
  })

  test.each([
    ['a page', 'text/html', '<html>Welcome</html>'],
    ['a page as JSON', 'application/json', '<html>Welcome</html>'],
    ['other JSON', 'application/json', '{"hello":"world"}'],
    ['nothing', 'text/event-stream', ''],
    ['ill-formed events', 'text/event-stream', 'data: {"choices":[\n\n'],
    ['events of another kind', 'text/event-stream', event({ hello: 'world' })],
    ['bytes', 'application/octet-stream', Buffer.from([0xff, 0xfe, 0, 1, 2])],
  ])('that answers %s is not understood', async (_, type, body) => {
    const error = await fails((response) => response.writeHead(200, { 'content-type': type }).end(body), modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Not understood' })
    expect(error.extras.hint).toContain('base_url')
  })

  test('that breaks off in the middle is told of, and what was given before is given', async () => {
    server.answer = (response) => void begin(response, wire).write('data: {"choi', () => response.destroy())
    const heard: string[] = []
    const error = await failure(
      (async () => {
        for await (const part of modelOf(wire).chat(question('hi'), { signal: new AbortController().signal }))
          if ('text' in part) heard.push(part.text)
      })(),
    )
    expect(heard.join('')).toBe('The begin')
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Connection lost' })
  })

  test('that closes the connection before it answers is asked again, and a few times at most', async () => {
    server.answer = (response, _, count) => {
      if (count === 1) response.destroy()
      else begin(response, wire).write('data: {"choi')
    }
    const parts = modelOf(wire).chat(question('hi'), { signal: new AbortController().signal })
    expect((await parts.next()).value).toEqual({ text: 'The begin' })
    await parts.return({ finish: 'other', usage: { input: null, output: null }, model: '' })
    server.reset()
    const error = await fails((response) => response.destroy(), modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Connection lost' })
    expect(server.asked).toHaveLength(3)
  })

  test('that ends in the middle has not answered', async () => {
    const error = await fails((response) => begin(response, wire).end(), modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Answer cut off' })
  })

  test('that tells of a failure in the middle is quoted', async () => {
    const error = await fails((response) => {
      const failed = { type: 'error', error: { type: 'overloaded_error', message: `out of memory, ${key}` } }
      begin(response, wire).end(wire === 'openai' ? event({ error: failed.error }) : `event: error\n${event(failed)}`)
    }, modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Language model failed' })
    expect(error.detail).toContain('out of memory, ******')
  })

  test('that never answers is left after a time', async () => {
    const error = await fails(() => undefined, modelOf(wire, modelsHere({ most: { headersMs: 100 } })))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'No answer' })
    await server.isLeft()
  })

  test('that stops in the middle is left after a time', async () => {
    const error = await fails((response) => void begin(response, wire), modelOf(wire, modelsHere({ most: { stallMs: 100 } })))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'No answer' })
    await server.isLeft()
  })

  test('that sends signs of life for ever is left when the time is over', async () => {
    const timers: NodeJS.Timeout[] = []
    const error = await fails(
      (response) => {
        begin(response, wire)
        timers.push(setInterval(() => response.write(': still here\n\n'), 10))
      },
      modelOf(wire, modelsHere({ most: { totalMs: 300, stallMs: 5_000 } })),
    )
    timers.forEach(clearInterval)
    expect(error).toMatchObject({ code: 'llm_failed', title: 'No answer in time' })
    await server.isLeft()
  })

  test('whose answer has no end is left after so many bytes', async () => {
    let sent = 0
    const piece = Buffer.alloc(64 * 1024, 'x')
    const error = await fails(async (response) => {
      begin(response, wire).write('data: ')
      for (; sent < 100 * 1024 * 1024 && !response.destroyed; sent += piece.length)
        if (!response.write(piece)) await drainedOrLeft(response)
      response.end()
    }, modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Answer too large' })
    await server.isLeft()
    expect(sent).toBeLessThan(4 * limits.llmAnswerMaxBytes)
  })

  test('whose error has no end is left, too', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    const error = await fails(async (response) => {
      response.writeHead(400)
      for (let sent = 0; sent < 100 * 1024 * 1024 && !response.destroyed; sent += piece.length)
        if (!response.write(piece)) await drainedOrLeft(response)
      response.end()
    }, modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Answer too large' })
  })

  test('that redirects is not followed', async () => {
    const error = await fails((response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(), modelOf(wire))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Redirected' })
  })

  test('is left at once by who leaves: while it is silent, while it answers, and while a retry is waited for', async () => {
    const reason = new Error('the client has left')
    const silent: Answering = () => undefined
    const speaking: Answering = (response) => void begin(response, wire)
    const busy: Answering = (response) => response.writeHead(429, { 'retry-after': '20' }).end('{}')
    for (const answer of [silent, speaking, busy]) {
      server.reset()
      const client = new AbortController()
      server.answer = (response, asked, count) => {
        setTimeout(() => client.abort(reason), 50)
        return answer(response, asked, count)
      }
      await expect(hear(modelOf(wire), question('hi'), client.signal)).rejects.toBe(reason)
      await server.isLeft()
    }
    const gone = AbortSignal.abort(reason)
    server.reset()
    await expect(hear(modelOf(wire), question('hi'), gone)).rejects.toBe(reason)
    expect(server.asked).toEqual([])
  })

  test('is left by a reader that does not read to the end', async () => {
    server.answer = (response) => void begin(response, wire)
    for await (const part of modelOf(wire).chat(question('hi'), { signal: new AbortController().signal })) {
      expect(part).toEqual({ text: 'The begin' })
      break
    }
    await server.isLeft()
  })
})

test('an answer that has said all is whole, also where the server leaves it open', async () => {
  server.answer = (response) => void stream(response).write(chunk({ content: 'all' }) + last())
  expect((await hear(modelOf('openai'), question('hi'))).text).toBe('all')
  await server.isLeft()
})

test('what came before a chunk that nobody can read is given', async () => {
  server.answer = (response) => stream(response).end(`${chunk({ content: 'The begin' })}data: {"choices":[\n\n`)
  const parts = modelOf('openai').chat(question('hi'), { signal: new AbortController().signal })
  expect((await parts.next()).value).toEqual({ text: 'The begin' })
  expect(await failure(parts.next())).toMatchObject({ code: 'llm_failed', title: 'Not understood' })
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('an answer that was packed as %s is read, though it was not asked for', async (encoding, pack) => {
  server.answer = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(pack(chunk({ content: 'all' }) + last()))
  expect((await hear(modelOf('openai'), question('hi'))).text).toBe('all')
})

test('an answer that is packed so that it is small has the same limit', async () => {
  const packed = gzipSync(Buffer.alloc(100 * 1024 * 1024, 'x'))
  const error = await fails((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed))
  expect(error).toMatchObject({ code: 'llm_failed', title: 'Answer too large' })
  const other = await fails((response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'))
  expect(other).toMatchObject({ code: 'llm_failed', title: 'Not understood' })
})

describe('a call that may not be made, or cannot', () => {
  const settings = () => settingsAt(`${server.url}/v1`)
  test('is refused where the policy does not allow the host', async () => {
    const error = await failure(hear(modelsHere({ egress: parseEgress('', { loopback: false }) }).of(settings()), question('hi')))
    expect(error.code).toBe('egress_refused')
    expect(error.extras.hint).toContain(`EGRESS_ALLOW=127.0.0.1:${server.port}`)
    expect(server.asked).toEqual([])
  })
  test('is refused where the port is that of another protocol', async () => {
    const error = await failure(hear(modelsHere().of(settingsAt('http://127.0.0.1:25/v1')), question('hi')))
    expect(error).toMatchObject({ code: 'egress_refused', detail: '127.0.0.1:25 has a port of another protocol' })
  })
  test('says that nothing listens', async () => {
    const other = new RawServer()
    await other.start()
    const settings = settingsAt(`${other.url}/v1`)
    other.stop()
    const error = await failure(hear(modelsHere().of(settings), question('hi')))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Connection refused' })
  })
  test('says that the host is not known', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'))
    const error = await failure(hear(modelsHere({ connecting: { lookup } }).of(settingsAt('http://llm.example/v1')), question('hi')))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Unknown host' })
  })
  test.each(['ключ', 'two\nlines', 'a b'])('with the key %j says so', async (key) => {
    const params = { base_url: server.url, api_key: key }
    const error = await failure(modelsHere().settingsOf({ model_name: 'm', params }))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'No such key' })
    expect(JSON.stringify([error, error.stack])).not.toContain(key)
    expect(server.asked).toEqual([])
  })
})

describe('tries', () => {
  const answers =
    (...statuses: [number, Record<string, string>?][]): Answering =>
    (response, _, count) => {
      const [status = 200, headers = {}] = statuses[count - 1] ?? []
      if (status === 200) stream(response).end(chunk({ content: 'ok' }) + last())
      else response.writeHead(status, headers).end(JSON.stringify({ error: { message: 'later' } }))
    }
  test.each([429, 500, 502, 503, 504, 529, 408])('%i is followed by another one', async (status) => {
    server.answer = answers([status], [status])
    expect((await hear(modelOf('openai'), question('hi'))).text).toBe('ok')
    expect(server.asked.length).toBe(3)
  })
  test('end after so many', async () => {
    const error = await fails(answers([500], [500], [500], [500]))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Language model failed' })
    expect(server.asked.length).toBe(1 + limits.llmRetriesMax)
  })
  test('wait longer each time, up to a limit, and no wait of its own is too long for the service', async () => {
    server.answer = answers([500], [500], [500], [500])
    const most = { retries: 4, retryWaits: { firstWaitMs: 1, factor: 2, maxWaitMs: 2 }, retryAfterMaxMs: 3 }
    expect((await hear(modelOf('openai', modelsHere({ most })), question('hi'))).text).toBe('ok')
    expect(server.asked.length).toBe(5)
  })
  test('are not made before Retry-After, and a long one is told instead of waited for', async () => {
    const error = await fails(answers([429, { 'retry-after': '3600' }]))
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Too many requests', extras: { retryAfterSeconds: 3600 } })
    expect(server.asked.length).toBe(1)
  })
  test('are not made where the quota is used up', async () => {
    const error = await fails((response) =>
      response.writeHead(429).end(JSON.stringify({ error: { message: 'quota', code: 'insufficient_quota' } })),
    )
    expect(error).toMatchObject({ code: 'llm_failed', title: 'Quota used up' })
    expect(server.asked.length).toBe(1)
  })
  test('go without a parameter that is refused, and so do later calls', async () => {
    server.answer = (response, { body }) => {
      const refused = ['temperature', 'stream_options', 'max_tokens'].find((name) => name in body)
      if (refused === undefined) return stream(response).end(chunk({ content: 'ok' }) + last())
      return response
        .writeHead(400)
        .end(JSON.stringify({ error: { message: `Unsupported parameter: '${refused}' is not supported with this model.` } }))
    }
    const models = modelsHere()
    const model = () => models.of(settingsAt(`${server.url}/v1`, { temperature: 0 }))
    expect((await hear(model(), question('hi'))).text).toBe('ok')
    expect(server.asked.length).toBe(4)
    expect(server.asked[3]?.body).toMatchObject({ max_completion_tokens: 500 })
    expect((await hear(model(), question('hi'))).text).toBe('ok')
    expect(server.asked.length).toBe(5)
  })
})

describe('slots', () => {
  test('are limited for each host: others wait, in their order, and not for ever', async () => {
    const open: ServerResponse[] = []
    let mostAtOnce = 0
    const arrived: (() => void)[] = []
    server.answer = (response) => {
      open.push(response)
      mostAtOnce = Math.max(mostAtOnce, open.length)
      arrived.shift()?.()
    }
    const isThere = () => new Promise<void>((resolve) => arrived.push(resolve))
    const answerOne = () => stream(open.shift()!).end(chunk({ content: 'ok' }) + last())
    const models = modelsHere({ most: { slots: { atOnce: 2, waiting: 2, waitMs: 60_000 } } })
    const ask = () => hear(models.of(settingsAt(`${server.url}/v1`)), question('hi'))
    const both = [isThere(), isThere()]
    const answers = [ask(), ask(), ask(), ask()]
    await Promise.all(both)
    expect(await failure(ask())).toMatchObject({ code: 'busy', extras: { retryAfterSeconds: 5 } })
    for (let at = 0; at < 4; at++) {
      const next = at < 2 ? isThere() : undefined
      answerOne()
      await answers[at]
      await next
    }
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(mostAtOnce).toBe(2)
  })
  test('are waited for so long', async () => {
    const models = modelsHere({ most: { slots: { atOnce: 1, waiting: 9, waitMs: 50 } } })
    const client = new AbortController()
    const asked = new Promise<void>((resolve) => {
      server.answer = () => resolve()
    })
    const first = hear(models.of(settingsAt(`${server.url}/v1`)), question('hi'), client.signal).catch(() => undefined)
    await asked
    expect(await failure(hear(models.of(settingsAt(`${server.url}/v1`)), question('hi')))).toMatchObject({ code: 'busy' })
    client.abort()
    await first
  })
})
