import { describe, expect, test } from '@jest/globals'
import { EventData } from '../../../src/llm/openai/event-data.js'

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

test('a line of many pieces is joined once', () => {
  const data = new EventData()
  const piece = Buffer.alloc(1_024, 'x')
  data.read(Buffer.from('data: '))
  for (let n = 0; n < 10_000; n++) expect(data.read(piece)).toEqual([])
  expect(data.read(Buffer.from('\n\n'))[0]).toHaveLength(10_000 * 1_024)
})
