import { expect, test } from '@jest/globals'
import { decodeFrame, encodeError, encodeFrame, FrameCutter, type LineFrame } from '../../src/sql-process/contract/frames.js'
import { streamId } from '../../events/common.js'
import { Problem } from '../../src/basics/errors.js'

const cut = (chunks: readonly Buffer[]): LineFrame[] => {
  const cutter = new FrameCutter()
  return chunks.flatMap((chunk) => [...cutter.push(chunk)].map(decodeFrame))
}

const columns = [{ name: 'a "b"', type: 'INTEGER' }]
const rows = Buffer.from('[1,"ü😀"],[2,"\\n"]')
const end = { rows: 2, scored: [{ model: streamId.parse('0190a000-0000-7000-8000-000000000001'), version: 1, rows: 2 }] }
const frames = [{ columns }, { rows }, { rows: Buffer.alloc(0) }, { end }]
const whole = Buffer.concat(frames.flatMap(encodeFrame))

test('frames come as they were sent, wherever the bytes are cut', () => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => whole.subarray(i * size, (i + 1) * size))
    expect(cut(pieces)).toEqual(frames)
  }
})

test('a frame that was cut off is none', () => {
  for (let length = 0; length < whole.length; length++) {
    const received = cut([whole.subarray(0, length)])
    expect(received).toEqual(frames.slice(0, received.length))
    expect(received.length).toBeLessThan(frames.length)
  }
})

test('an error comes as the problem that it was, and a fault without its details', () => {
  const problem = new Problem('query_failed', 'Query failed', 'no such thing', { hint: 'try another', line: 3 })
  const [refused] = cut([encodeError(problem)])
  expect(refused).toMatchObject({
    error: { code: 'query_failed', detail: 'no such thing', extras: { hint: 'try another', line: 3 } },
  })
  const [fault] = cut([encodeError(new Error('boom'))])
  expect(fault).toMatchObject({ error: { code: 'internal', detail: 'a fault of this service; its log says more' } })
})

test('what is no frame is refused', () => {
  const strange = Buffer.from('{"else":1}')
  const [start] = encodeFrame({ end })
  if (!start) throw new Error('no header')
  start.writeUInt32LE(strange.length, 1)
  expect(() => cut([start.subarray(0, 5), strange])).toThrow(TypeError)
})
