import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { Gate, type EnterOptions, type GateLimits, type Ticket } from '../../src/analytics/gate.js'
import { until } from '../support/analytics.js'

const gateOf = (limits: Partial<GateLimits>): Gate =>
  new Gate({
    ...{ concurrentMaxQueries: 8, longMaxQueries: 4, queueMaxQueries: 10, streamingMaxAnswers: 99, clientMaxPercent: 75, quickMs: 1 },
    ...limits,
  })

const enter = (gate: Gate, options: EnterOptions = {}) => {
  const entry: { ticket: Ticket | undefined } = { ticket: undefined }
  void gate.enter(options).then((ticket) => (entry.ticket = ticket))
  return entry
}

const settle = async () => {
  await turn()
  await turn()
}

test('as many run as may, the others wait in order', async () => {
  const gate = gateOf({ concurrentMaxQueries: 2, queueMaxQueries: 10, streamingMaxAnswers: 99 })
  const [a, b, c, d] = [enter(gate), enter(gate), enter(gate), enter(gate)]
  await settle()
  expect([a, b, c, d].map(({ ticket }) => ticket !== undefined)).toEqual([true, true, false, false])
  b.ticket?.release()
  b.ticket?.release()
  await settle()
  expect([c, d].map(({ ticket }) => ticket !== undefined)).toEqual([true, false])
  expect([gate.running, gate.waiting]).toEqual([2, 1])
})

test('a query that streams makes room for the next, as long as few do', async () => {
  const gate = gateOf({ concurrentMaxQueries: 1, queueMaxQueries: 10, streamingMaxAnswers: 2 })
  const [a, b, c] = [enter(gate), enter(gate), enter(gate)]
  await settle()
  expect(b.ticket).toBeUndefined()
  a.ticket?.streams()
  await settle()
  expect(b.ticket).toBeDefined()
  b.ticket?.streams()
  await settle()
  expect([c.ticket, gate.running, gate.waiting]).toEqual([undefined, 2, 1])
  a.ticket?.release()
  await settle()
  expect(c.ticket).toBeDefined()
})

test('suspects come first and execute one at a time, and others with them only when they stream', async () => {
  const gate = gateOf({ concurrentMaxQueries: 4, queueMaxQueries: 10, streamingMaxAnswers: 99 })
  const lost = [enter(gate), enter(gate)]
  await settle()
  const fresh = enter(gate)
  const suspects = lost.map(({ ticket }) => {
    ticket?.release()
    return enter(gate, { suspect: true, retried: true })
  })
  await settle()
  expect([...suspects, fresh].filter(({ ticket }) => ticket)).toHaveLength(1)
  const first = suspects.find(({ ticket }) => ticket)
  first?.ticket?.streams()
  await settle()
  const second = suspects.find((suspect) => suspect !== first)
  expect([second?.ticket !== undefined, fresh.ticket !== undefined]).toEqual([true, false])
  second?.ticket?.release()
  await settle()
  expect(fresh.ticket).toBeDefined()
})

test('beyond its bound the queue refuses, but never one that was in already', async () => {
  const gate = gateOf({ concurrentMaxQueries: 1, queueMaxQueries: 1, streamingMaxAnswers: 99 })
  enter(gate)
  enter(gate)
  await settle()
  await expect(gate.enter()).rejects.toMatchObject({ code: 'busy' })
  const retried = enter(gate, { retried: true })
  await settle()
  expect(retried.ticket).toBeUndefined()
  expect(gate.waiting).toBe(2)
})

test('the queue is bounded also while a suspect runs alone, and when many come at once', async () => {
  const gate = gateOf({ concurrentMaxQueries: 2, queueMaxQueries: 1, streamingMaxAnswers: 99 })
  const alone = enter(gate, { suspect: true })
  await settle()
  expect(alone.ticket?.suspect).toBe(true)
  enter(gate)
  enter(gate)
  await expect(gate.enter()).rejects.toMatchObject({ code: 'busy' })
  expect([gate.running, gate.waiting]).toEqual([1, 2])
})

test('clients take turns, however many queries one of them sends', async () => {
  const gate = gateOf({ concurrentMaxQueries: 1 })
  const first = enter(gate, { client: 'a' })
  await settle()
  const waiting = ['a', 'a', 'a', 'b', 'c'].map((client) => ({ client, entry: enter(gate, { client }) }))
  const order: string[] = []
  for (let running = first; order.length < 5;) {
    running.ticket?.release()
    await settle()
    const next = waiting.find(({ entry }) => entry.ticket !== undefined)
    if (!next) throw new Error('nobody was admitted')
    waiting.splice(waiting.indexOf(next), 1)
    order.push(next.client)
    running = next.entry
  }
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a'])
})

test('one client has at most its share of the places and of the queue', async () => {
  const gate = gateOf({ concurrentMaxQueries: 4, queueMaxQueries: 4 })
  const greedy = Array.from({ length: 6 }, () => enter(gate, { client: 'a' }))
  await settle()
  expect(greedy.filter(({ ticket }) => ticket)).toHaveLength(3)
  await expect(gate.enter({ client: 'a' })).rejects.toMatchObject({ code: 'busy', detail: expect.stringContaining('of this client') })
  const other = enter(gate, { client: 'b' })
  await settle()
  expect(other.ticket).toBeDefined()
})

test('of the queries that are no quick ones only some go on, and the others give way and wait for such a place', async () => {
  const gate = gateOf({ concurrentMaxQueries: 3, longMaxQueries: 1 })
  const gaveWay: string[] = []
  const [a, b] = [enter(gate), enter(gate)]
  await settle()
  a.ticket?.begins(() => gaveWay.push('a'))
  // It takes the place for long ones when its time as a quick one is over.
  await sleep(50)
  b.ticket?.begins(() => gaveWay.push('b'))
  await until(() => gaveWay.length > 0)
  expect(gaveWay).toEqual(['b'])
  b.ticket?.release()
  const again = enter(gate, { long: true, retried: true })
  await settle()
  expect(again.ticket).toBeUndefined()
  const quick = enter(gate)
  await settle()
  expect(quick.ticket).toBeDefined()
  a.ticket?.streams()
  await settle()
  expect(again.ticket).toBeDefined()
})

test('one that gives its first row in time gives way to nobody', async () => {
  const gate = gateOf({ longMaxQueries: 0, quickMs: 30 })
  const gaveWay: string[] = []
  const [fast, slow] = [enter(gate), enter(gate)]
  await settle()
  fast.ticket?.begins(() => gaveWay.push('fast'))
  slow.ticket?.begins(() => gaveWay.push('slow'))
  fast.ticket?.streams()
  await until(() => gaveWay.length > 0)
  expect(gaveWay).toEqual(['slow'])
})
