import { expect, test } from '@jest/globals'
import { setTimeout } from 'node:timers/promises'
import { withBeats } from '../../../src/http/reads/heartbeat.js'

test('there are beats while nothing comes, and every item in its order', async () => {
  const seen: unknown[] = []
  const items = async function* () {
    yield 1
    // Nothing comes until two beats were read, however slow the machine is.
    while (seen.length < 3) await setTimeout(5)
    yield 2
    yield 3
  }
  for await (const item of withBeats(items(), 20)) seen.push(item)
  expect(seen.filter((item) => item !== 'beat')).toEqual([1, 2, 3])
  expect(seen.slice(0, 3)).toEqual([1, 'beat', 'beat'])
})

test('who stops at a beat does not wait for what may never come', async () => {
  let ended = false
  const over = new AbortController()
  const never = async function* () {
    try {
      await setTimeout(60_000, undefined, { signal: over.signal }).catch(() => undefined)
      yield 1
    } finally {
      ended = true
    }
  }
  for await (const item of withBeats(never(), 10)) if (item === 'beat') break
  expect(ended).toBe(false)
  over.abort()
  await setTimeout(10)
  expect(ended).toBe(true)
})

test('a failure of the items is theirs who read them', async () => {
  const failing = async function* () {
    yield 1
    await Promise.reject(new Error('it broke'))
  }
  const items = withBeats(failing(), 1_000)
  expect(await items.next()).toEqual({ value: 1, done: false })
  await expect(items.next()).rejects.toThrow('it broke')
})
