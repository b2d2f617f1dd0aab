import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, send, serverOf, serviceWith, upload, type Target } from './harness.js'

const warm = 100
const questions = 400
const streams = 200
const streamSeconds = 10
const streamRounds = 5

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

/** A server of language models: its first word comes at once. A question for `slow` gets a word every 100 ms. */
const startModel = async (): Promise<{ url: string; stop: () => void }> => {
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

const connections = new Agent({ keepAlive: true, maxSockets: Infinity })

/** Asks for a stream, and reads it to its end: the time to its first word in milliseconds. */
const stream = async (url: string, question: string): Promise<number> => {
  const body = JSON.stringify({ messages: [{ role: 'user', content: question }] })
  const began = performance.now()
  const sent = request(url, { agent: connections, method: 'POST', headers: { 'content-type': 'application/json' } })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let [text, first, isEnded] = ['', NaN, false]
  for await (const chunk of response) {
    text += String(chunk)
    if (Number.isNaN(first) && text.includes('word 0')) first = performance.now() - began
    isEnded ||= text.includes('[DONE]') || text.includes('"type":"end"')
  }
  if (response.statusCode !== 200 || Number.isNaN(first) || !isEnded)
    throw new Error(`${url}: ${response.statusCode} ${text.slice(0, 500)}`)
  return first
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? NaN

const residentMb = ({ pid }: Target): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024

/** An agent that may read a table of a hundred rows. */
const prepare = async (target: Target, model: string): Promise<string> => {
  await upload(
    target,
    'sales',
    'sales.csv',
    `id,town,price\n${Array.from({ length: 100 }, (_, i) => `${i},town ${i % 9},${i * 1.5}`).join('\n')}`,
  )
  const asked = { provider: 'openai_compatible', model_name: 'scripted', base_url: model, api_key: 'sk-scripted-1234567890' }
  await send(target, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'helper', model: asked, data: { tables: ['files.sales'] } } })
  return `${target.url}/api/projects/mindsdb/agents/helper/completions/stream`
}

const firstWords = async (ours: string, bare: string): Promise<void> => {
  const times: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] }
  for (let n = -warm; n < questions; n++)
    for (const side of ['ours', 'bare'] as const) {
      const time = await stream(side === 'ours' ? ours : bare, `question ${n}`)
      if (n >= 0) times[side].push(time)
    }
  const at = (part: number) => [percentile(times.ours, part), percentile(times.bare, part)] as const
  const said = ([own, relay]: readonly [number, number]) =>
    `+${(own - relay).toFixed(1)} ms (ours ${own.toFixed(1)}, relay ${relay.toFixed(1)})`
  console.log(
    `agents: first word of a stream beside a bare relay, ${questions} questions in turn: p50 ${said(at(0.5))}, p99 ${said(at(0.99))}`,
  )
}

const manyStreams = async (target: Target, ours: string, bare: string): Promise<void> => {
  const round = async () => {
    const before = residentMb(target)
    const during: number[] = []
    const sampler = setInterval(() => during.push(residentMb(target)), 1_000)
    const times = await Promise.all(Array.from({ length: streams }, (_, n) => stream(ours, `slow question ${n}`)))
    clearInterval(sampler)
    const third = (from: number) =>
      percentile(during.slice(Math.floor((during.length * from) / 3), Math.ceil((during.length * (from + 1)) / 3)), 0.5)
    const figures = [before, third(0), third(2), residentMb(target)].map((mb) => mb.toFixed(0))
    console.log(
      `agents: ${streams} streams at once, ${streamSeconds * 10} words each: memory of the server ${figures.join(' / ')} MB before / first third / last third / after; first word p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`,
    )
  }
  for (let n = 0; n < streamRounds; n++) await round()
  const relayed = await Promise.all(Array.from({ length: streams }, (_, n) => stream(bare, `slow question ${n}`)))
  console.log(
    `agents: the first word of as many streams of the relay: p50 ${percentile(relayed, 0.5).toFixed(0)} ms, p99 ${percentile(relayed, 0.99).toFixed(0)} ms`,
  )
  const [[recorded] = []] = await ask(target, "SELECT count(*) FROM log.answers WHERE outcome = 'answered'")
  const expected = warm + questions + streamRounds * streams
  if (recorded !== expected) throw new Error(`${String(recorded)} answers are on record, not ${expected}`)
}

/** What agents cost beside their language model: the time to the first word against a bare relay, and memory with many streams. */
export const agents = async (): Promise<void> => {
  const model = await startModel()
  const target = await serviceWith({})()
  const relay = await serverOf('relay', 'bench/bare/agent-relay.js', [], '/ready', { MODEL: `${model.url}/chat/completions` })()
  try {
    const ours = await prepare(target, model.url)
    await firstWords(ours, `${relay.url}/completions/stream`)
    await manyStreams(target, ours, `${relay.url}/completions/stream`)
  } finally {
    await target.stop()
    await relay.stop()
    model.stop()
    connections.destroy()
  }
}
