import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { median, send, service, type Target } from './harness/harness.js'

const atOnce = 8
const seconds = 10

/** A query that keeps every core busy for as long as it may run. */
const heavy = (n: number) => `SELECT sum(hash(a.i * b.i + ${n})) % 97 FROM range(10000) AS a(i), range(3000) AS b(i)`

const path = '/api/projects/mindsdb/skills/one'

const get = async (url: string, agent: Agent): Promise<number> => {
  const from = performance.now()
  const sent = request(url + path, { agent }).end()
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
  for await (const _ of response) continue
  return performance.now() - from
}

/** Measures REST requests, a hundred a second, until `until` ends. */
const measure = async (target: Target, until: Promise<unknown>): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true })
  const took: number[] = []
  let over = false
  void until.finally(() => (over = true))
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- `over` is set when `until` ends
  while (!over) {
    took.push(await get(target.url, agent))
    await sleep(10)
  }
  agent.destroy()
  return took
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((x, y) => x - y)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? NaN

/** Keeps eight heavy queries running for a while: each is followed by the next. */
const load = async (target: Target): Promise<number> => {
  const until = performance.now() + seconds * 1000
  let ended = 0
  const line = async (n: number) => {
    while (performance.now() < until) {
      const answer = (await send(target, 'POST', '/api/sql/query', { query: heavy(n) })) as { type: string }
      if (answer.type !== 'table') throw new Error(JSON.stringify(answer))
      ended += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, n) => line(n)))
  return ended
}

/** The latency of reading a skill while eight heavy queries run at once, compared in turn with an idle service. */
export const heavyQueries = async (): Promise<void> => {
  const target = await service()
  try {
    await send(target, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 'one', type: 'sql', params: {} } })
    await measure(target, sleep(1_000))
    const [idle, busy]: [number[], number[]] = [[], []]
    for (let round = 0; round < 3; round++) {
      idle.push(quantile(await measure(target, sleep(5_000)), 0.99))
      busy.push(quantile(await measure(target, load(target)), 0.99))
    }
    console.log(`heavy: REST p99 at rest ${median(idle).toFixed(1)} ms   beside ${atOnce} heavy queries ${median(busy).toFixed(1)} ms`)
  } finally {
    await target.stop()
  }
}
