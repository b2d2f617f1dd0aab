import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { Gate, type EnterOptions, type Ticket } from '../../src/analytics/gate.js'

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
  const gate = new Gate(2, 10, 99)
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
  const gate = new Gate(1, 10, 2)
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
  const gate = new Gate(4, 10, 99)
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
  const gate = new Gate(1, 1, 99)
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
  const gate = new Gate(2, 1, 99)
  const alone = enter(gate, { suspect: true })
  await settle()
  expect(alone.ticket?.suspect).toBe(true)
  enter(gate)
  enter(gate)
  await expect(gate.enter()).rejects.toMatchObject({ code: 'busy' })
  expect([gate.running, gate.waiting]).toEqual([1, 2])
})
