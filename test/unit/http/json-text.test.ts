import { expect, test } from '@jest/globals'
import { jsonItems, jsonMembers } from '../../../src/basics/json-text.js'
import { limits } from '../../../src/basics/limits.js'
import { seeded } from '../../support/random.js'

const allOf = async (parts: AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = []
  for await (const part of parts) all.push(part)
  return all
}

test('an object in parts is the text that JSON.stringify makes of it', async () => {
  const random = seeded(11)
  const below = (count: number) => Math.floor(random() * count)
  const valueOf = (depth: number): unknown => {
    const kinds = [null, true, below(9) / 8, 'a "word"', '😀\ud800', undefined, Number.NaN]
    if (depth === 0 || random() < 0.4) return kinds[below(kinds.length)]
    const some = Array.from({ length: below(5) }, () => valueOf(depth - 1))
    return random() < 0.5 ? some : Object.fromEntries(some.map((value, i) => [`member ${i}"`, value]))
  }
  for (let n = 0; n < 2_000; n++) {
    const value = Object.fromEntries(Array.from({ length: below(6) }, (_, i) => [`m${i}`, valueOf(3)]))
    expect((await allOf(jsonMembers(value))).join('')).toBe(JSON.stringify(value))
  }
})

test('a large object is written in many turns, and its first turn is a new one', async () => {
  const tools = Array.from({ length: 200 }, (_, i) => ({ i, rows: Array.from({ length: 500 }, (__, j) => [j, 'a word of a row']) }))
  let turns = 0
  let isWritten = false
  const count = () => {
    turns++
    if (!isWritten) setImmediate(count)
  }
  setImmediate(count)
  const seen: number[] = []
  const spent = process.cpuUsage()
  for await (const part of jsonMembers({ id: 7, tools })) {
    expect(part.length).toBeLessThan(20_000)
    seen.push(turns)
  }
  isWritten = true
  const { user } = process.cpuUsage(spent)
  expect(seen[0]).toBeGreaterThan(0)
  // Each turn lasts turnMaxMs at most, and then one item.
  expect(turns).toBeGreaterThan(user / 1_000 / limits.turnMaxMs / 4)
})

test('items of a list are joined a few at a time', async () => {
  const items = Array.from({ length: 7 }, (_, i) => i)
  expect(await allOf(jsonItems(items, { atOnce: 3 }))).toEqual(['0,1,2', ',3,4,5', ',6'])
})
