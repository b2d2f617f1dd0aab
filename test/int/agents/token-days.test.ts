import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { ScriptedModel } from '../../support/agents/scripted-model.js'
import { chunk, last, RawServer, stream } from '../../support/llm/raw-server.js'
import { logServer } from '../../support/log/each-log.js'
import { inOneDay } from '../../support/one-day.js'
import { until } from '../../support/until.js'
import { answered, send, spawnService, sql, temporaryDirectory } from '../../support/service.js'

const directory = temporaryDirectory()
const model = new ScriptedModel()
let running: Awaited<ReturnType<typeof spawnService>>

beforeAll(async () => {
  await inOneDay()
  await model.start()
  running = await spawnService(directory.path)
})
afterAll(async () => {
  running.child.kill('SIGKILL')
  await running.ended
  await model.stop()
  directory.remove()
})

const restart = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
  running.child.kill(signal)
  await running.ended
  running = await spawnService(directory.path)
}
const agent = (name: string) =>
  send(running.url, 'POST', '/api/projects/mindsdb/agents', {
    agent: { name, model: model.model, params: { tokens_per_day: 5_000, max_tokens: 100 } },
  })
const ask = (name: string) =>
  send(running.url, 'POST', `/api/projects/mindsdb/agents/${name}/completions`, { messages: [{ role: 'user', content: 'Hi' }] })

test.each(['SIGTERM', 'SIGKILL'] as const)('what an agent used of its day still counts after %s and another start', async (signal) => {
  const name = `thrifty_${signal.toLowerCase()}`
  await agent(name)
  model.script = () => ({ content: 'Yes.', usage: { prompt_tokens: 2_300, completion_tokens: 100 } })
  expect((await ask(name)).status).toBe(200)
  await restart(signal)
  expect((await ask(name)).status).toBe(200)
  model.script = () => ({ content: 'Yes.', usage: { prompt_tokens: 400, completion_tokens: 10 } })
  expect(await ask(name)).toMatchObject({ status: 429, body: { code: 'tokens_spent' } })
  await restart(signal)
  expect(await ask(name)).toMatchObject({ status: 429, body: { code: 'tokens_spent' } })
})

test.each<[string, object]>([
  ['no tokens', {}],
  ['0 tokens', { usage: { prompt_tokens: 0, completion_tokens: 0 } }],
  ['too many tokens', { usage: { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: Number.MAX_SAFE_INTEGER } }],
])('what an agent used still counts after another start where the provider reports %s', async (words, reported) => {
  const silent = new RawServer()
  silent.answer = (response) => stream(response).end(chunk({ content: 'Yes.' }) + last('stop', reported))
  await silent.start()
  try {
    const params = { tokens_per_day: 5_000, max_tokens: 100 }
    const name = `untold_${words.replaceAll(' ', '_')}`
    const agent = { name, model: { ...model.model, base_url: `${silent.url}/v1` }, params }
    await send(running.url, 'POST', '/api/projects/mindsdb/agents', { agent })
    const askLong = () =>
      send(running.url, 'POST', `/api/projects/mindsdb/agents/${name}/completions`, {
        messages: [{ role: 'user', content: 'x'.repeat(8_000) }],
      })
    expect((await askLong()).body).toMatchObject({ usage: { input_tokens: null, output_tokens: null } })
    await restart('SIGKILL')
    expect((await askLong()).status).toBe(200)
    await restart('SIGKILL')
    expect(await askLong()).toMatchObject({ status: 429, body: { code: 'tokens_spent' } })
  } finally {
    silent.stop()
  }
})

test('what a judge used counts after another start, too', async () => {
  await agent('judged')
  await sql(running.url, `CREATE TABLE files.judged (SELECT 'Hi' AS question, 'Yes' AS answer)`)
  model.script = ({ messages }) => ({
    content: JSON.stringify(messages).includes('You judge') ? '{"verdict": "good", "reason": "Right."}' : 'Yes.',
    usage: { prompt_tokens: JSON.stringify(messages).includes('You judge') ? 4_600 : 200, completion_tokens: 9 },
  })
  const evaluated = await sql(
    running.url,
    `EVALUATE AGENT mindsdb.judged USING test_table = 'files.judged', metrics = 'judge', judge = ${JSON.stringify(model.model)}`,
  )
  expect(evaluated.error_message).toBeUndefined()
  expect((await ask('judged')).status).toBe(429)
  await restart('SIGKILL')
  expect((await ask('judged')).status).toBe(429)
  const { data } = await sql(running.url, `SELECT sum(answers - failed), sum(input_tokens) FROM log.usage WHERE agent = 'judged'`)
  expect(data).toEqual([[1, 4_800]])
})

describe('on several nodes', () => {
  const { server } = logServer()
  const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }
  const agents = '/api/projects/mindsdb/agents'

  const withNodes = async (run: (a: string, b: string) => Promise<void>): Promise<void> => {
    const url = await server().newUrl()
    const directories = [temporaryDirectory(), temporaryDirectory()]
    const nodes = await Promise.all(directories.map(({ path }) => spawnService(path, { ...keys, LOG_URL: url })))
    const [a, b] = nodes.map((node) => node.url) as [string, string]
    try {
      await run(a, b)
    } finally {
      for (const { child, ended } of nodes) {
        child.kill('SIGKILL')
        await ended
      }
      for (const { remove } of directories) remove()
    }
  }

  /** Asks an agent at a node, and again with the same key while the node does not hear in time what the other one wrote. */
  const askAt = (node: string, name: string, key: string = randomUUID()) => {
    const body = { messages: [{ role: 'user', content: 'Hi' }] }
    return answered(() => send(node, 'POST', `${agents}/${name}/completions`, body, { 'Idempotency-Key': key }))
  }

  test('one request at two nodes has the answer that is recorded, and the tokens of both count', async () => {
    await withNodes(async (a, b) => {
      expect((await send(a, 'POST', agents, { agent: { name: 'helper', model: model.model } })).status).toBe(201)
      const held: (() => void)[] = []
      model.script = async () => {
        const content = `This is answer ${held.length}.`
        await new Promise<void>((resolve) => held.push(resolve))
        return { content, usage: { prompt_tokens: 100, completion_tokens: 10 } }
      }
      const first = askAt(a, 'helper', 'k')
      await until(() => held.length === 1)
      const second = askAt(b, 'helper', 'k')
      await until(() => held.length === 2)
      held[0]?.()
      const { body } = await first
      held[1]?.()
      expect(body).toMatchObject({ message: { content: 'This is answer 0.' } })
      expect((await second).body).toEqual(body)
      expect((await sql(a, 'SELECT sum(answers), sum(input_tokens) FROM log.usage')).data).toEqual([[2, 200]])
    })
  })

  test('what an agent used at one node counts at the others', async () => {
    await withNodes(async (a, b) => {
      const thrifty = { name: 'thrifty', model: model.model, params: { tokens_per_day: 5_000, max_tokens: 100 } }
      expect((await send(a, 'POST', agents, { agent: thrifty })).status).toBe(201)
      model.script = () => ({ content: 'Yes.', usage: { prompt_tokens: 2_300, completion_tokens: 100 } })
      expect([(await askAt(a, 'thrifty')).status, (await askAt(b, 'thrifty')).status]).toEqual([200, 200])
      model.script = () => ({ content: 'Yes.', usage: { prompt_tokens: 400, completion_tokens: 10 } })
      for (const node of [a, b]) expect(await askAt(node, 'thrifty')).toMatchObject({ status: 429, body: { code: 'tokens_spent' } })
    })
  })
})
