import { expect, test } from '@jest/globals'
import { setImmediate } from 'node:timers/promises'
import { FairTurns } from '../../src/basics/concurrency/fair-turns.js'

/** Turns whose work ends when the test says so. */
const heldTurns = (bounds: { max: number; perGroupMax: number }) => {
  const running = new Map<string, () => void>()
  const begun: string[] = []
  const turns = new FairTurns(bounds, (item) => {
    begun.push(item)
    return new Promise<void>((resolve) => running.set(item, resolve))
  })
  const end = async (item: string) => {
    const resolve = running.get(item)
    running.delete(item)
    resolve?.()
    await setImmediate()
  }
  return { turns, begun, running, end }
}

test('a group with much to do leaves places to others, and groups take turns', async () => {
  const { turns, begun, running, end } = heldTurns({ max: 3, perGroupMax: 2 })
  for (const item of ['a1', 'a2', 'a3', 'a4']) turns.add('a', item)
  expect(begun).toEqual(['a1', 'a2'])
  for (const item of ['b1', 'b2']) turns.add('b', item)
  turns.add('c', 'c1')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  expect(turns.counts()).toEqual({ running: 3, waiting: 4 })
  await end('a1')
  await end('a2')
  await end('b1')
  expect(begun.slice(3)).toEqual(['a3', 'b2', 'c1'])
  for (const item of [...running.keys()]) await end(item)
  await end('a4')
  expect(turns.counts()).toEqual({ running: 0, waiting: 0 })
})

test('an item never runs beside itself, and runs again when it was added meanwhile', async () => {
  const { turns, begun, end } = heldTurns({ max: 4, perGroupMax: 4 })
  for (let n = 0; n < 3; n++) turns.add('a', 'one')
  expect(begun).toEqual(['one'])
  await end('one')
  expect(begun).toEqual(['one', 'one'])
  await end('one')
  expect(begun).toEqual(['one', 'one'])
})

test('a stop waits for what runs, and begins nothing more', async () => {
  const { turns, begun, end } = heldTurns({ max: 1, perGroupMax: 1 })
  turns.add('a', 'one')
  turns.add('a', 'two')
  let isStopped = false
  const stopped = turns.stop().then(() => (isStopped = true))
  await setImmediate()
  expect(isStopped).toBe(false)
  await end('one')
  await stopped
  expect(begun).toEqual(['one'])
})
