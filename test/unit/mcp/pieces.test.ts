import { expect, test } from '@jest/globals'
import type { Json } from '../../../events/common.js'
import { exactJson } from '../../../src/basics/exact-json.js'
import { firstRows } from '../../../src/mcp/tool-parts/rows.js'
import { linesIn, type Line } from '../../../src/mcp/relay/lines.js'
import { messageHeaders } from '../../../src/mcp/relay/message-headers.js'
import { fc } from '../../support/random/properties.js'

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

const collected = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('the first rows are those of the chunks, whatever stands in them', async () => {
  const row = fc.array(
    fc.json().map((text) => JSON.parse(text) as Json),
    { minLength: 1, maxLength: 4 },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(row, { minLength: 1, maxLength: 5 }), { maxLength: 4 }), fc.nat(12), async (chunks, most) => {
      const texts = chunks.map((rows) => Buffer.from(rows.map((one) => JSON.stringify(one)).join(',')))
      const all = exactJson(`[${texts.join(',')}]`) as Json[][]
      const { rows, isCut } = await firstRows(inOrder(texts), { rows: most, bytes: 1e9 })
      expect(rows).toEqual(all.slice(0, most))
      expect(isCut).toBe(all.length > most)
    }),
  )
})

async function* inOrder(texts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* texts
}

test('lines are read alike in pieces of any size', async () => {
  const lines = Buffer.from('ein\r\nzwei ü\n\nviel zu lang\nende')
  for (let size = 1; size < 40; size++) {
    const expected: Line[] = [{ text: 'ein' }, { text: 'zwei ü' }, { text: '' }, { tooLong: true }, { text: 'ende' }]
    expect(await collected(linesIn(inPieces(lines, size), 10))).toEqual(expected)
  }
})

test('headers repeat what a message of the newer revision says, in ASCII', () => {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  expect(messageHeaders({ method: 'tools/call', params: { name: 'query', _meta } })).toEqual({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'query',
  })
  expect(messageHeaders({ method: 'm', params: { name: 'ü\n', _meta } })['mcp-name']).toBe('=?base64?w7wK?=')
  expect(messageHeaders({ method: 'tools/call', params: { name: 'query' } })).toEqual({})
  expect(messageHeaders(null)).toEqual({})
})
