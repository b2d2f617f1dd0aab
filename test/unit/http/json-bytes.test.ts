import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { countJson, parseJson, RoundedNumber } from '../../../src/http/protocol/parse-json.js'

const counted = (text: string) => countJson(Buffer.from(text))

test.each([
  ['1', { values: 1, depth: 0, keys: 0, hasLongNumber: false }],
  ['{"a":[1,2]}', { values: 4, depth: 2, keys: 1, hasLongNumber: false }],
  ['[{"a":1,"b":2},{"c":3}]', { values: 6, depth: 2, keys: 2, hasLongNumber: false }],
  ['{"a":{"x":1},"b":{"y":[]},"c":1}', { values: 7, depth: 3, keys: 3, hasLongNumber: false }],
  ['{"a,b:{[":"\\"]}:,"}', { values: 2, depth: 1, keys: 1, hasLongNumber: false }],
] as const)('%s is counted without being parsed', (text, counts) => expect(counted(text)).toEqual(counts))

test.each([
  ['9007199254740993', true],
  ['[0.1234567890123456]', true],
  ['{"a":"9007199254740993"}', false],
  ['[900719925474099]', false],
])('%s: a long number is noticed', (text, isLong) => expect(counted(text).hasLongNumber).toBe(isLong))

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

describe('numbers that JavaScript would round are refused', () => {
  const before = large(items, '', ',')
  const inText = (number: string) => [
    `[${number}]`,
    `{"a": ${number} }`,
    number,
    `[${before}${number}]`,
    `{"data":[${before}{"n":-${number}}]}`,
  ]

  test.each(
    [
      ...['9007199254740993', '12345678901234567890', '9'.repeat(309), '9'.repeat(1_000_000)],
      ...['90071992547409.93', '0.12345678901234567', '1e400', '1E-400', `0.${'1'.repeat(1_000)}`],
    ].map((number) => [number.slice(0, 40), number.length, number] as const),
  )('%s… of %i characters', async (_name, _length, number) => {
    for (const text of inText(number)) {
      const refused = await parseJson(Buffer.from(text), { isExact: true }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(RoundedNumber)
      expect((refused as RoundedNumber).written).toBe(number)
      // A body that may be rounded is taken.
      expect(await parseJson(Buffer.from(text))).toEqual(JSON.parse(text))
    }
  })

  test.each([
    '9007199254740992',
    '1234567890123456800',
    '1' + '0'.repeat(22),
    '12345678901234567e3',
    '0.30000000000000004',
    '0.10000000000000001',
    '0.0000000000000000000',
    '1.7976931348623157e308',
    '5e-324',
    '2.5e-05',
  ])('%s is taken: no digit is lost', async (number) => {
    for (const text of inText(number)) expect(await parseJson(Buffer.from(text), { isExact: true })).toEqual(JSON.parse(text))
  })

  test('a text in quotes is taken, and so is a key', async () => {
    const text = `{"9007199254740993":"\\"9007199254740993"}`
    expect(await parseJson(Buffer.from(text), { isExact: true })).toEqual(JSON.parse(text))
  })

  /** The whole number that a program reads in this text: 1.25e+3 is 1250. */
  const wholeNumber = (printed: string): bigint => {
    const [digits = '', exponent = '0'] = printed.split('e')
    const [whole = '', decimals = ''] = digits.split('.')
    return BigInt(whole + decimals) * 10n ** BigInt(Number(exponent) - decimals.length)
  }

  test('each whole number comes out as it was sent, or is refused', () =>
    fc.assert(
      fc.asyncProperty(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), async (number) => {
        const read = await parseJson(Buffer.from(`[${number}]`), { isExact: true }).catch(() => undefined)
        const value = (read as number[] | undefined)?.[0]
        if (value === undefined) expect(BigInt(Number(number))).not.toBe(number)
        else expect([wholeNumber(JSON.stringify(value)), BigInt(value)]).toContain(number)
      }),
      { examples: [[-1001358032226562500000n], [10n ** 25n]] },
    ))
})
