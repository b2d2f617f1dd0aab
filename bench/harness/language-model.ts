import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/basics/limits.js'

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

/** The number of words in the answer to a `slow` question: enough for many such streams to run at the same time. */
const streamSeconds = 6

/** The question for a share of the largest answer that an agent with the table `files.cars` may give. */
export const largestQuestion = (share: number): string => `Say the largest answer times ${share}.`
const askedShare = /Say the largest answer times ([\d.]+)\./

/** A query with as many rows as an agent may read at once, of about a kilobyte each. */
const queryOf = (n: number): string => {
  const { agentQueryMaxRows: most } = limits
  return `SELECT a.*, repeat('some text ', 70) AS more FROM files.cars AS a, files.cars AS b LIMIT ${most} OFFSET ${n * most}`
}

/** As many calls of the tool `sql` as one answer may have. */
const callsOf = (share: number): object[] =>
  Array.from({ length: Math.ceil(share * limits.agentSqlMaxCalls) }, (_, index) => ({
    ...{ index, id: `call_${index}`, type: 'function' },
    function: { name: 'sql', arguments: JSON.stringify({ query: queryOf(index) }) },
  }))

const event = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const done = 'data: [DONE]\n\n'

/** The largest answer: first the calls, and after their results the longest text in small pieces. */
const largest = (asked: string, share: number): string => {
  if (!asked.includes('"role":"tool"')) return event({ tool_calls: callsOf(share) }) + event({}, 'tool_calls') + done
  return event({ content: 'word ' }).repeat(Math.floor((share * limits.agentOutputMaxChars) / 5)) + event({}, 'stop') + done
}

/**
 * A server of language models: its first word comes at once. A question for `slow` gets a word every 100 ms, and `largestQuestion` gets
 * calls of tools and a long text.
 */
export const startModel = async (): Promise<{ url: string; stop: () => void }> => {
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const asked = await textOf(req)
    const isSlow = asked.includes('slow')
    const [, share] = askedShare.exec(asked) ?? []
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    if (share !== undefined) {
      res.end(largest(asked, Number(share)))
      return
    }
    for (let word = 0; word < (isSlow ? streamSeconds * 10 : 5) && !res.destroyed; word++) {
      res.write(event({ content: `word ${word} ` }))
      if (isSlow) await sleep(100)
    }
    res.end(event({}, 'stop') + done)
  }
  const server = createServer((req, res) => void answer(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, stop }
}

/** The model of an agent that asks this server. */
export const modelOf = (baseUrl: string) => {
  return { provider: 'openai_compatible', model_name: 'scripted', base_url: baseUrl, api_key: 'sk-scripted-1234567890' }
}
