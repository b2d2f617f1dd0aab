import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request, type IncomingMessage } from 'node:http'
import { ask, checkAims, send, serverOf, serviceWith, upload, type Target } from './harness/harness.js'
import { modelOf, startModel } from './harness/language-model.js'

/**
 * The number of streams that start at once, and the number of rounds for each side. The first round is not counted: Node compiles code in
 * it.
 */
const levels = [
  { streams: 1, rounds: 200 },
  { streams: 20, rounds: 15 },
  { streams: 200, rounds: 6 },
] as const
const connections = new Agent({ keepAlive: true, maxSockets: Infinity })
/** The first word of one stream comes at most so much later than that of the relay. */
const laterMaxMs = 50
/** Memory is flat if the least of the last round is at most so many times that of the second: the most depends on garbage collections. */
const grownMax = 1.25

/** Asks for a stream, and reads it to its end: the time to its first word in milliseconds. */
const stream = async (url: string, question: string, onFirst: () => void = () => undefined): Promise<number> => {
  const body = JSON.stringify({ messages: [{ role: 'user', content: question }] })
  const began = performance.now()
  const sent = request(url, { agent: connections, method: 'POST', headers: { 'content-type': 'application/json' } })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let [text, first] = ['', NaN]
  for await (const chunk of response) {
    // Reading costs the same on both sides: the words that are searched stand at the beginning and at the end.
    text = (Number.isNaN(first) ? text : text.slice(-1_000)) + String(chunk)
    if (!Number.isNaN(first) || !text.includes('word 0')) continue
    first = performance.now() - began
    onFirst()
  }
  const isEnded = text.includes('[DONE]') || text.includes('"type":"end"')
  if (response.statusCode !== 200 || Number.isNaN(first) || !isEnded)
    throw new Error(`${url}: ${response.statusCode} ${text.slice(0, 500)}`)
  return first
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? NaN

const residentMb = ({ pid }: Target): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024

/** The processor time of a process and its threads so far, in milliseconds. Linux counts it in hundredths of a second. */
const workedMs = ({ pid }: Target): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** An agent that may read a table of a hundred rows. */
const prepare = async (target: Target, model: string): Promise<string> => {
  await upload(
    target,
    'sales',
    'sales.csv',
    `id,town,price\n${Array.from({ length: 100 }, (_, i) => `${i},town ${i % 9},${i * 1.5}`).join('\n')}`,
  )
  await send(target, 'POST', '/api/projects/mindsdb/agents', {
    agent: { name: 'helper', model: modelOf(model), data: { tables: ['files.sales'] } },
  })
  return `${target.url}/api/projects/mindsdb/agents/helper/completions/stream`
}

type Side = { target: Target; url: string }
type Round = { firstMs: number[]; workedMs: number; memoryMb: number[] }

/**
 * Starts this many streams at once. Gives the time to the first word of each, and the processor time of the server until every stream had
 * its first word.
 */
const round = async ({ target, url }: Side, streams: number): Promise<Round> => {
  const before = workedMs(target)
  const memoryMb = [residentMb(target)]
  const sampler = setInterval(() => memoryMb.push(residentMb(target)), 500)
  let [waiting, worked] = [streams, NaN]
  const onFirst = () => {
    waiting -= 1
    if (waiting === 0) worked = workedMs(target) - before
  }
  const asked = streams > 20 ? 'slow question' : 'question'
  const firstMs = await Promise.all(Array.from({ length: streams }, (_, n) => stream(url, `${asked} ${n}`, onFirst)))
  clearInterval(sampler)
  memoryMb.push(residentMb(target))
  return { firstMs, workedMs: worked, memoryMb }
}

/** Both sides run in turn, so that other load on the machine affects both. */
const level = async (sides: { ours: Side; relay: Side }, { streams, rounds }: (typeof levels)[number]): Promise<void> => {
  const taken: Record<keyof typeof sides, Round[]> = { ours: [], relay: [] }
  for (let n = 0; n <= rounds; n++)
    for (const name of ['ours', 'relay'] as const) {
      const one = await round(sides[name], streams)
      if (n > 0) taken[name].push(one)
    }
  const timesOf = (name: keyof typeof sides) => taken[name].flatMap(({ firstMs }) => firstMs)
  const said = (name: keyof typeof sides) => {
    const times = timesOf(name)
    const worked = taken[name].reduce((sum, one) => sum + one.workedMs, 0) / times.length
    return `${name} p50 ${percentile(times, 0.5).toFixed(1)} p99 ${percentile(times, 0.99).toFixed(1)} ms, ${worked.toFixed(2)} ms of processor each`
  }
  console.log(`agents: first word, ${streams} at once: ${said('ours')}; ${said('relay')}`)
  const laterMs = percentile(timesOf('ours'), 0.5) - percentile(timesOf('relay'), 0.5)
  if (streams === 1) checkAims([[`the first word of one stream at most ${laterMaxMs} ms after the relay`, laterMs <= laterMaxMs]])
  if (streams < 200) return
  const memory = taken.ours.map(({ memoryMb }) => `${Math.min(...memoryMb).toFixed(0)}–${Math.max(...memoryMb).toFixed(0)}`)
  console.log(`agents: memory of the server in each round of ${streams} streams: ${memory.join(', ')} MB`)
  const least = taken.ours.map(({ memoryMb }) => Math.min(...memoryMb))
  const grown = (least.at(-1) ?? NaN) / (least[1] ?? NaN)
  checkAims([[`the memory of the last round at most ${grownMax} times that of the second`, grown <= grownMax]])
}

/**
 * The cost of agents besides their language model: memory, and the time to the first word compared with a bare relay, for one stream and
 * for many. Model, clients and both servers share the machine, so many streams wait for each other there. The times include all of this
 * work; the processor times are those of the server alone.
 */
export const agents = async (): Promise<void> => {
  const model = await startModel()
  const target = await serviceWith({})()
  const relay = await serverOf('relay', 'bench/bare/agent-relay.js', [], '/ready', { MODEL: `${model.url}/chat/completions` })()
  try {
    const ours = { target, url: await prepare(target, model.url) }
    const sides = { ours, relay: { target: relay, url: `${relay.url}/completions/stream` } }
    for (const one of levels) await level(sides, one)
    const [[recorded] = []] = await ask(target, "SELECT count(*) FROM log.answers WHERE outcome = 'answered'")
    const expected = levels.reduce((sum, { streams, rounds }) => sum + streams * (rounds + 1), 0)
    if (recorded !== expected) throw new Error(`${String(recorded)} answers are on record, not ${expected}`)
  } finally {
    await target.stop()
    await relay.stop()
    model.stop()
    connections.destroy()
  }
}
