import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decodeLine, encodeError, encodeFrame, linesOf } from '../../src/analytics/lines.js'
import { Problem } from '../../src/errors.js'

const collect = async (chunks: Buffer[]): Promise<string[]> => {
  const lines: string[] = []
  const source = async function* () {
    yield* chunks
  }
  for await (const line of linesOf(source())) lines.push(line)
  return lines
}

test('lines come out as they went in, wherever the bytes were cut', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '))
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(20)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join('') + 'cut off')
      const chunks: Buffer[] = []
      let at = 0
      for (const cut of cuts) chunks.push(bytes.subarray(at, (at += cut)))
      chunks.push(bytes.subarray(at))
      expect(await collect(chunks)).toEqual(lines)
    }),
  )
})

test('frames and problems survive the way', () => {
  const columns = [{ name: 'a', type: 'INTEGER' }]
  expect(decodeLine(encodeFrame({ columns }).trimEnd())).toEqual({ kind: 'columns', columns })
  expect(decodeLine(encodeFrame({ rows: '[1],[2]' }).trimEnd())).toEqual({ kind: 'rows', rows: '[1],[2]' })
  const end = { rows: 2, scored: [] }
  expect(decodeLine(encodeFrame({ end }).trimEnd())).toEqual({ kind: 'end', end })
  const problem = new Problem('query_limit', 'Too long', 'It took\ntoo long', { hint: 'wait', limit: 'sqlTimeoutMs' })
  const line = decodeLine(encodeError(problem).trimEnd())
  expect(line).toEqual({ kind: 'error', problem })
  expect(line.kind === 'error' && line.problem.extras).toEqual(problem.extras)
  expect(decodeLine(encodeError(new Error('boom')).trimEnd())).toMatchObject({
    kind: 'error',
    problem: { code: 'internal', detail: expect.not.stringContaining('boom'), extras: { cause: expect.stringContaining('boom') } },
  })
  expect(() => decodeLine('{"else":1}')).toThrow(TypeError)
})
