import { describe, expect, test } from '@jest/globals'
import { EventData } from '../../../src/egress/event-data.js'

const whole = (text: string, size: number): string[] => {
  const [data, bytes] = [new EventData(), Buffer.from(text)]
  const found: string[] = []
  for (let at = 0; at < bytes.length; at += size) found.push(...data.read(bytes.subarray(at, at + size)))
  return found
}

describe.each([1, 2, 3, 7, 1_000])('in pieces of %i bytes', (size) => {
  test.each(['\n', '\r\n', '\r'])('events are found whose lines end in %j', (end) => {
    const text = [
      'data: {"a":"äöü 🙂"}',
      '',
      ': comment',
      '',
      'event: x',
      'data:1',
      'data: 2',
      'id: 3',
      '',
      '',
      'data: [DONE]',
      '',
      '',
    ].join(end)
    expect(whole(text, size)).toEqual(['{"a":"äöü 🙂"}', '1\n2', '[DONE]'])
  })
  test('an event that does not end is none', () => {
    expect(whole('data: 1\n\ndata: 2\n', size)).toEqual(['1'])
    expect(whole('data: 1\n\ndata: 2', size)).toEqual(['1'])
  })
  test('a mark of the order of bytes at the beginning is none of its characters', () => {
    expect(whole('\ufeffdata: 1\n\n', size)).toEqual(['1'])
  })
})

test('bytes that are no text take the place of characters, and the events after them are found', () => {
  const bytes = Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff, 0xc3]), Buffer.from('\n\ndata: b\n\n')])
  expect(new EventData().read(bytes)).toEqual(['a\ufffd\ufffd', 'b'])
})

test('lines of one event may end differently', () =>
  expect(new EventData().read(Buffer.from('event: message\ndata: 1\ndata: 2\r\n\r\n'))).toEqual(['1\n2']))

/** The processor time of reading one event of a size, in microseconds: the least of some tries. */
const costOf = (size: number): number => {
  const data = 'x'.repeat(size)
  let least = Infinity
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = process.cpuUsage()
    expect(whole(`data: ${data}\r\n\r\n`, 512)).toEqual([data])
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

test('a large event in small pieces takes time that grows with it, and not with its square', () => {
  // Eight times the size is 64 times the work if each piece reads all pieces before it again.
  expect(costOf(8 * 1024 * 1024)).toBeLessThan(24 * costOf(1024 * 1024))
})
