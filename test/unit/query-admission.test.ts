import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect, jest, test } from '@jest/globals'
import { QueryAdmission, type EnterOptions, type AdmissionLimits, type Ticket } from '../../src/sql-process/query-admission.js'
import { until } from '../support/until.js'

const admissionOf = (limits: Partial<AdmissionLimits>): QueryAdmission =>
  new QueryAdmission({
    ...{ concurrentMaxQueries: 8, longMaxQueries: 4, queueMaxQueries: 10, waitingMaxQueries: 4, streamingMaxAnswers: 99 },
    ...{ clientMaxPercent: 75, quickMs: 1 },
    ...limits,
  })

const enter = (admission: QueryAdmission, options: EnterOptions = {}) => {
  const entry: { ticket: Ticket | undefined } = { ticket: undefined }
  void admission.enter(options).then((ticket) => (entry.ticket = ticket))
  return entry
}

const admitted = (...entries: ReturnType<typeof enter>[]) => entries.map(({ ticket }) => ticket !== undefined)

const settle = async () => {
  await turn()
  await turn()
}

test('as many run as may, the others wait in order', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 2, queueMaxQueries: 10, streamingMaxAnswers: 99 })
  const [a, b, c, d] = [enter(admission), enter(admission), enter(admission), enter(admission)]
  await settle()
  expect([a, b, c, d].map(({ ticket }) => ticket !== undefined)).toEqual([true, true, false, false])
  b.ticket?.release()
  b.ticket?.release()
  await settle()
  expect([c, d].map(({ ticket }) => ticket !== undefined)).toEqual([true, false])
  expect([admission.running, admission.waiting]).toEqual([2, 1])
})

test('a query that streams makes room for the next, as long as few do', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 1, queueMaxQueries: 10, streamingMaxAnswers: 2 })
  const [a, b, c] = [enter(admission), enter(admission), enter(admission)]
  await settle()
  expect(b.ticket).toBeUndefined()
  a.ticket?.streams()
  await settle()
  expect(b.ticket).toBeDefined()
  b.ticket?.streams()
  await settle()
  expect([c.ticket, admission.running, admission.waiting]).toEqual([undefined, 2, 1])
  a.ticket?.release()
  await settle()
  expect(c.ticket).toBeDefined()
})

test('a query that waits for another system leaves its place to others, as long as few do', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 2, longMaxQueries: 1, waitingMaxQueries: 2, quickMs: 60_000 })
  const [a, b, c, d] = [enter(admission, { long: true }), enter(admission, { long: true }), enter(admission), enter(admission)]
  await settle()
  expect(admitted(a, b, c, d)).toEqual([true, false, true, false])
  const goesOn = a.ticket?.waits()
  await settle()
  expect(admitted(a, b, c, d)).toEqual([true, true, true, false])
  const [other, more] = [b.ticket?.waits(), c.ticket?.waits()]
  await settle()
  // Two wait already: the third keeps its place.
  expect(admitted(a, b, c, d)).toEqual([true, true, true, true])
  more?.()
  goesOn?.()
  goesOn?.()
  const e = enter(admission)
  await settle()
  expect([admitted(e), admission.running]).toEqual([[false], 4])
  // One that ends while it waits has no place to leave.
  b.ticket?.release()
  other?.()
  a.ticket?.release()
  await settle()
  expect([admitted(e), admission.running]).toEqual([[false], 2])
  c.ticket?.release()
  await settle()
  expect([admitted(e), admission.running]).toEqual([[true], 2])
})

test('a query waits until the last of its questions is answered, and may answer before', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 1, streamingMaxAnswers: 2, quickMs: 60_000 })
  const [a, b] = [enter(admission), enter(admission)]
  await settle()
  const [first, second] = [a.ticket?.waits(), a.ticket?.waits()]
  first?.()
  first?.()
  await settle()
  expect(admitted(a, b)).toEqual([true, true])
  a.ticket?.streams()
  second?.()
  const c = enter(admission)
  await settle()
  expect([admitted(c), admission.running]).toEqual([[false], 2])
  a.ticket?.release()
  b.ticket?.release()
  await settle()
  expect([admitted(c), admission.running]).toEqual([[true], 1])
})

test('a query that waited for long is not sent away', async () => {
  const admission = admissionOf({ longMaxQueries: 0, quickMs: 10 })
  const waited = enter(admission)
  await settle()
  let gaveWay = 0
  waited.ticket?.begins(() => (gaveWay += 1))
  const goesOn = waited.ticket?.waits()
  await sleep(30)
  goesOn?.()
  await sleep(50)
  expect(gaveWay).toBe(0)
  waited.ticket?.release()
  expect(admission.running).toBe(0)
})

test('the time for which a query waits does not count as that of a quick one', async () => {
  const admission = admissionOf({ longMaxQueries: 0, quickMs: 10_000 })
  const waiting = enter(admission)
  await settle()
  let gaveWay = 0
  waiting.ticket?.begins(() => (gaveWay += 1))
  waiting.ticket?.waits()()
  expect([gaveWay, admission.running]).toEqual([0, 1])
  waiting.ticket?.release()
  expect(admission.running).toBe(0)
})

/** Suspects that executed for so long when the process was lost, and have come back. */
const suspectsOf = (admission: QueryAdmission, ...ranMs: number[]) =>
  ranMs.map((ran) => enter(admission, { suspect: { ranMs: ran }, long: ran >= 1_000, retried: true }))

test('suspects come first and execute one at a time, and others with them only when they stream', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 4, quickMs: 60_000 })
  const lost = [enter(admission), enter(admission)]
  await settle()
  const fresh = enter(admission)
  for (const { ticket } of lost) ticket?.release()
  const [first, second] = suspectsOf(admission, 5, 5)
  if (!first || !second) throw new Error('there are two')
  await settle()
  expect(admitted(first, second, fresh)).toEqual([true, false, false])
  first.ticket?.begins(() => undefined)
  first.ticket?.streams()
  await settle()
  expect(admitted(second, fresh)).toEqual([true, false])
  second.ticket?.release()
  await settle()
  expect(admitted(fresh)).toEqual([true])
})

test('the suspect that had executed for the shortest time is tried first', async () => {
  const admission = admissionOf({ quickMs: 60_000 })
  const suspects = suspectsOf(admission, 900, 3_000, 20)
  const order: number[] = []
  while (order.length < suspects.length) {
    await settle()
    const next = suspects.findIndex(({ ticket }, i) => ticket && !order.includes(i))
    order.push(next)
    suspects[next]?.ticket?.release()
  }
  expect(order).toEqual([2, 0, 1])
})

test('beside a suspect that is no quick query others are, suspects and not, and the next long suspect waits for its end', async () => {
  const admission = admissionOf({ quickMs: 5 })
  const [small, first, second] = suspectsOf(admission, 20, 3_000, 4_000)
  const [quick, long] = [enter(admission), enter(admission, { long: true, retried: true })]
  if (!small || !first || !second) throw new Error('there are three')
  // The small one is over before the time of a quick query, however long the machine holds this up.
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0)
  await settle()
  small.ticket?.release()
  clock.mockRestore()
  await settle()
  expect(admitted(first, quick)).toEqual([true, false])
  first.ticket?.begins(() => undefined)
  await until(() => quick.ticket !== undefined)
  expect(admitted(second, long)).toEqual([false, false])
  quick.ticket?.release()
  first.ticket?.release()
  await until(() => second.ticket !== undefined)
  expect(admitted(long)).toEqual([false])
  second.ticket?.release()
  await until(() => long.ticket !== undefined)
})

test('a small suspect is tried beside one that does not end', async () => {
  const admission = admissionOf({ quickMs: 5 })
  const [endless, small] = suspectsOf(admission, 10, 20)
  if (!endless || !small) throw new Error('there are two')
  await settle()
  endless.ticket?.begins(() => undefined)
  await until(() => small.ticket !== undefined)
  expect(admission.running).toBe(2)
})

test('others have their turn between suspects that take long, and give way to these when they are no quick ones', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 2, quickMs: 5 })
  const [first, second] = suspectsOf(admission, 10, 20)
  const others = [enter(admission), enter(admission), enter(admission)]
  const gaveWay: number[] = []
  await settle()
  await sleep(20)
  first?.ticket?.release()
  await settle()
  expect(admitted(...others)).toEqual([true, true, false])
  others.forEach(({ ticket }, i) => ticket?.begins(() => gaveWay.push(i)))
  await until(() => gaveWay.length === 2)
  for (const { ticket } of others) ticket?.release()
  await until(() => second?.ticket !== undefined)
  expect(admitted(...others)).toEqual([true, true, false])
})

test('beyond its bound the queue refuses, but never one that was in already', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 1, queueMaxQueries: 1, streamingMaxAnswers: 99 })
  enter(admission)
  enter(admission)
  await settle()
  await expect(admission.enter()).rejects.toMatchObject({ code: 'busy' })
  const retried = enter(admission, { retried: true })
  await settle()
  expect(retried.ticket).toBeUndefined()
  expect(admission.waiting).toBe(2)
})

test('the queue is bounded also while a suspect runs alone, and when many come at once', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 2, queueMaxQueries: 1, streamingMaxAnswers: 99 })
  const alone = enter(admission, { suspect: { ranMs: 0 } })
  await settle()
  expect(alone.ticket).toBeDefined()
  enter(admission)
  enter(admission)
  await expect(admission.enter()).rejects.toMatchObject({ code: 'busy' })
  expect([admission.running, admission.waiting]).toEqual([1, 2])
})

test('clients take turns, however many queries one of them sends', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 1 })
  const first = enter(admission, { client: 'a' })
  await settle()
  const waiting = ['a', 'a', 'a', 'b', 'c'].map((client) => ({ client, entry: enter(admission, { client }) }))
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
  const admission = admissionOf({ concurrentMaxQueries: 4, queueMaxQueries: 4 })
  const greedy = Array.from({ length: 6 }, () => enter(admission, { client: 'a' }))
  await settle()
  expect(greedy.filter(({ ticket }) => ticket)).toHaveLength(3)
  await expect(admission.enter({ client: 'a' })).rejects.toMatchObject({ code: 'busy', detail: expect.stringContaining('of this client') })
  const other = enter(admission, { client: 'b' })
  await settle()
  expect(other.ticket).toBeDefined()
})

test('of the queries that are no quick ones only some go on, and the others give way and wait for such a place', async () => {
  const admission = admissionOf({ concurrentMaxQueries: 3, longMaxQueries: 1 })
  const gaveWay: string[] = []
  const [a, b] = [enter(admission), enter(admission)]
  await settle()
  a.ticket?.begins(() => gaveWay.push('a'))
  // It takes the place for long ones when its time as a quick one is over.
  await sleep(50)
  b.ticket?.begins(() => gaveWay.push('b'))
  await until(() => gaveWay.length > 0)
  expect(gaveWay).toEqual(['b'])
  b.ticket?.release()
  const again = enter(admission, { long: true, retried: true })
  await settle()
  expect(again.ticket).toBeUndefined()
  const quick = enter(admission)
  await settle()
  expect(quick.ticket).toBeDefined()
  a.ticket?.streams()
  await settle()
  expect(again.ticket).toBeDefined()
})

test('one that gives its first row in time gives way to nobody', async () => {
  const admission = admissionOf({ longMaxQueries: 0, quickMs: 30 })
  const gaveWay: string[] = []
  const [fast, slow] = [enter(admission), enter(admission)]
  await settle()
  fast.ticket?.begins(() => gaveWay.push('fast'))
  slow.ticket?.begins(() => gaveWay.push('slow'))
  fast.ticket?.streams()
  await until(() => gaveWay.length > 0)
  expect(gaveWay).toEqual(['slow'])
})
