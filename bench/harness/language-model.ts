import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

/** The number of words in the answer to a `slow` question: enough for many such streams to run at the same time. */
const streamSeconds = 6

/** A server of language models: its first word comes at once. A question for `slow` gets a word every 100 ms. */
export const startModel = async (): Promise<{ url: string; stop: () => void }> => {
  const event = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const isSlow = (await textOf(req)).includes('slow')
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let word = 0; word < (isSlow ? streamSeconds * 10 : 5) && !res.destroyed; word++) {
      res.write(event({ content: `word ${word} ` }))
      if (isSlow) await sleep(100)
    }
    res.end(`${event({}, 'stop')}data: [DONE]\n\n`)
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
