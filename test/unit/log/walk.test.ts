import { describe, expect, test } from '@jest/globals'
import { logAt, logNow, type LogAt } from '../../../src/log/read/time-travel.js'
import type { Log } from '../../../src/log/contract/log.js'
import { limits } from '../../../src/basics/limits.js'
import { eventsOf, eventsWith, streamEvents } from '../../../src/log/read/slices.js'
import { MemoryLog, streamOf } from '../../support/log/memory-log.js'

const events = 600
const memory = new MemoryLog()
const large = 'x'.repeat(10_000)
for (let n = 0; n < events; n++) memory.append({ stream: streamOf(1), type: 'SkillUpdated', data: { params: { n, large } } })

type Read = (after: number, limit: number, maxChars?: number) => Promise<{ position: number; text: string }[]>

/** A log of one stream, with the characters of what was read at a time. */
const reading = (): { log: Log; chars: number[] } => {
  const chars: number[] = []
  const readAll: Read = async (after, limit, maxChars = Infinity) => {
    let sum = 0
    const read = memory.read(after, limit)
    const full = read.findIndex(({ text }) => (sum += text.length) >= maxChars)
    const given = full < 0 ? read : read.slice(0, full + 1)
    chars.push(given.reduce((all, { text }) => all + text.length, 0))
    return given
  }
  const readStream = (_: string, ...asked: Parameters<Read>) => readAll(...asked)
  return { log: { readAll, readStream, resources: {} } as unknown as Log, chars }
}

const positions = async (events: AsyncIterable<{ position: number }>): Promise<number[]> => {
  const found: number[] = []
  for await (const { position } of events) found.push(position)
  return found
}

const all = Array.from({ length: events }, (_, i) => i + 1)
const mostChars = limits.eventSliceMaxChars + 11_000

describe('a walk over large events', () => {
  test.each<[string, (log: Log) => AsyncIterable<{ position: number }>, number[]]>([
    ['of the log', (log) => eventsWith(log, 3, () => true), all.slice(3)],
    ['of the log as it is', (log) => eventsWith(logNow(log), 0, () => true), all],
    ['of the log as it was', (log) => eventsWith(logAt(log, 500, {} as LogAt['resources']), 0, () => true), all.slice(0, 500)],
    ['of a stream', (log) => eventsOf(log, streamOf(1)), all],
    ['of a stream up to a version', (log) => eventsOf(log, streamOf(1), 321), all.slice(0, 321)],
  ])('%s meets each of them, and has few of them in memory at a time', async (_, walk, expected) => {
    const { log, chars } = reading()
    expect(await positions(walk(log))).toEqual(expected)
    expect(Math.max(...chars)).toBeLessThan(mostChars)
  })

  test('of a stream gives others their turn in between', async () => {
    let turns = 0
    const { log } = reading()
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const walked = await streamEvents(log, streamOf(1))
    isOver = true
    expect(walked).toHaveLength(all.length)
    expect(turns).toBeGreaterThan(0)
  })
})
