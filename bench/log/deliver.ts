import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { median, send, service, type Target } from '../harness/harness.js'

const rounds = 5
const clients = 16
const writers = 4
/** The interval at which each writer sends. It does not depend on the time of the previous answer. */
const everyMs = 20
const seconds = 6

type Figures = { commit: number; delivery: number; events: number }

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN

/** Follows the log, and notes when each event arrived. */
const follow = (target: Target, arrived: (id: string, at: number) => void) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(`${target.url}/api/events/stream`, { agent: false }, (response) => {
      let rest = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        const at = performance.now()
        const messages = (rest + text).split('\n\n')
        rest = messages.pop() ?? ''
        for (const message of messages) {
          const request = /"request":"([^"]+)"/.exec(message)?.[1]
          if (request !== undefined) arrived(request, at)
        }
      })
      resolve(response)
    })
    request.once('error', reject)
  })

const skill = (name: string) => ({
  skill: { name, type: 'text2sql', params: { database: 'example_db', tables: ['orders', 'items'], description: 'sales' } },
})

/** Under a fixed load of writes: the latency of each write for its client, and until each follower had its event. */
const measure = async (target: Target): Promise<Figures> => {
  const sent = new Map<string, number>()
  const commits: number[] = []
  const deliveries: number[] = []
  const followers = await Promise.all(
    Array.from({ length: clients }, () =>
      follow(target, (id, at) => {
        const began = sent.get(id)
        if (began !== undefined) deliveries.push(at - began)
      }),
    ),
  )
  const write = async (id: string): Promise<void> => {
    const began = performance.now()
    sent.set(id, began)
    const response = await fetch(`${target.url}/api/projects/mindsdb/skills`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': id },
      body: JSON.stringify(skill(id)),
    })
    await response.text()
    commits.push(performance.now() - began)
  }
  const writing: Promise<void>[] = []
  const run = Date.now().toString(36)
  for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
    for (let n = 0; n < writers; n++) writing.push(write(`${run}-${writing.length}`))
    await sleep(everyMs)
  }
  await Promise.all(writing)
  await sleep(500)
  for (const follower of followers) follower.destroy()
  if (deliveries.length !== writing.length * clients)
    throw new Error(`${writing.length} events to ${clients} clients were ${deliveries.length} deliveries`)
  return { commit: percentile(commits, 0.99), delivery: percentile(deliveries, 0.99), events: writing.length }
}

/**
 * The time from sending a write until its event reaches a client of the stream, beside the time until the writer has its answer: 16
 * clients, 4 writes every 20 ms.
 */
export const deliver = async (): Promise<void> => {
  const figures: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    const target = await service()
    try {
      await send(target, 'POST', '/api/projects/mindsdb/skills', skill('warm'))
      figures.push(await measure(target))
    } finally {
      await target.stop()
    }
  }
  const of = (key: keyof Figures) => median(figures.map((one) => one[key]))
  console.log(`deliver: ratio ${(of('delivery') / of('commit')).toFixed(2)}`)
  console.log(`  commit    p99 ${of('commit').toFixed(1)} ms as its client sees it`)
  console.log(`  delivery  p99 ${of('delivery').toFixed(1)} ms to ${clients} clients, of ${of('events').toFixed(0)} events`)
}
