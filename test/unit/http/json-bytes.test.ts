import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { countJson, parseJson } from '../../../src/http/protocol/parse-json.js'

const counted = (text: string) => countJson(Buffer.from(text))

test.each([
  ['1', { values: 1, depth: 0, keys: 0 }],
  ['{"a":[1,2]}', { values: 4, depth: 2, keys: 1 }],
  ['[{"a":1,"b":2},{"c":3}]', { values: 6, depth: 2, keys: 2 }],
  ['{"a":{"x":1},"b":{"y":[]},"c":1}', { values: 7, depth: 3, keys: 3 }],
  ['{"a,b:{[":"\\"]}:,"}', { values: 2, depth: 1, keys: 1 }],
] as const)('%s is counted without being parsed', (text, counts) => expect(counted(text)).toEqual(counts))

test('no text has more than what is counted of it', () =>
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const sizeOf = (one: unknown): number =>
        typeof one === 'object' && one !== null ? Object.values(one).reduce((sum: number, inner) => sum + sizeOf(inner), 1) : 1
      expect(counted(JSON.stringify(value)).values).toBeGreaterThanOrEqual(sizeOf(value))
    }),
  ))

/** A text of many parts, so that it is read in slices. */
const large = (parts: string[], before = '[', after = ']') => before + parts.join(',') + after
const items = Array.from({ length: 1_500 }, (_, i) =>
  JSON.stringify({ i, text: `a "quote", a } and a ] of ${i} é😀`, list: [i, null, true] }),
)

describe('large texts are read in parts', () => {
  test.each([
    ['a list', large(items)],
    ['a list in an object', large(items, ' {"data" : [', '] , "params": {"version": 1}, "a\\"b": null }')],
    ['an object of lists', `{"data":{"a":${large(items)},"b":[],"__proto__":[1]}}`],
    ['white space', large(items, ' [ ', ' ] ')],
    ['one long text', JSON.stringify(['x'.repeat(200_000), 'é'.repeat(100_000)])],
    ['many small items', large(Array.from({ length: 100_000 }, (_, i) => String(i)))],
  ])('%s', async (_, text) => expect(await parseJson(Buffer.from(text))).toEqual(JSON.parse(text)))

  test.each([
    ['nothing between commas', large(items, '[', ',,1]')],
    ['only space between commas', large([...items, ' ', '1'])],
    ['a comma at the end', large(items, '[', ',]')],
    ['no end', large(items, '[', '')],
    ['another bracket', large(items, '[', '}')],
    ['something behind', large(items, '[', '] 1')],
    ['no colon', large(items, '{"a" [', ']}')],
    ['no key', large(items, '{[', ']}')],
    ['a broken item', large([...items, '{"a":}'])],
    ['a broken text', large([...items, '"a'])],
  ])('%s is refused with its place', async (_, text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError)
    await expect(parseJson(Buffer.from(text))).rejects.toThrow(/^not well-formed JSON at position \d+$/)
  })

  test('what JSON.parse takes is taken, and nothing else', () =>
    fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.nat(40),
        fc.constantFrom('', ',', ']', '}', '"', ':', '[', '{', ' '),
        async (value, at, piece) => {
          const body = large([...items, JSON.stringify(value)])
          const tail = body.length - at
          // A piece between the halves of a character leaves two that are none, which no bytes have.
          const text = (body.slice(0, tail) + piece + body.slice(tail)).toWellFormed()
          let expected: unknown
          try {
            expected = JSON.parse(text)
          } catch {
            await expect(parseJson(Buffer.from(text))).rejects.toThrow(SyntaxError)
            return
          }
          expect(await parseJson(Buffer.from(text))).toEqual(expected)
        },
      ),
      { numRuns: 40 },
    ))
})
