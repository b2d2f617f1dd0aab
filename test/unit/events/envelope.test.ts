import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { genesis, leafHash, nextChain } from '../../../events/stored/chain.js'
import { instant, parseEnvelope, renderAround, renderEnvelope, type Envelope } from '../../../events/stored/envelope.js'

const envelope: Envelope = {
  data: { name: 'shop', z: 1, a: [true, null] },
  causation: null,
  correlation: 'c',
  request: 'r',
  source: 'rest',
  actor: 'ann',
  recorded_at: '2026-01-02T03:04:05.000006Z',
  schema: 1,
  type: 'ProjectCreated',
  version: 1,
  stream: 's',
  position: 1,
}
const text =
  '{"position":1,"stream":"s","version":1,"type":"ProjectCreated","schema":1,"recorded_at":"2026-01-02T03:04:05.000006Z",' +
  '"actor":"ann","source":"rest","request":"r","correlation":"c","causation":null,"data":{"name":"shop","z":1,"a":[true,null]}}'

describe('envelope', () => {
  test('the stored text has its keys in one order, whatever order they came in', () => expect(renderEnvelope(envelope)).toBe(text))

  test('data that is written already gives the same text, with a traceparent too', () => {
    const { data, ...head } = { ...envelope, traceparent: '00-1-2-01' }
    const whole = text.replace('"causation":null,', '"causation":null,"traceparent":"00-1-2-01",')
    expect(renderAround(head, JSON.stringify(data))).toBe(whole)
    expect(renderEnvelope({ data, ...head })).toBe(whole)
  })

  test('times of one millisecond, of the next and of an earlier one are each written as they are', () =>
    expect([instant(1, 1), instant(1, 2), instant(2), instant(1)]).toEqual(
      ['001001', '001002', '002000', '001000'].map((fraction) => `1970-01-01T00:00:00.${fraction}Z`),
    ))

  test('a text read back renders to the same bytes', () => {
    expect(parseEnvelope(text)).toEqual(envelope)
    expect(renderEnvelope(parseEnvelope(text))).toBe(text)
  })

  test('any JSON of well-formed text comes back as it was', () => {
    const wellFormed = fc.string({ unit: 'grapheme' }).filter((s) => s.isWellFormed() && !s.includes('\0') && s !== '__proto__')
    const json = fc.dictionary(
      wellFormed,
      fc.letrec((tie) => ({
        value: fc.oneof(
          { maxDepth: 4 },
          wellFormed,
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          fc.array(tie('value'), { maxLength: 3 }),
        ),
      })).value,
    )
    fc.assert(
      fc.property(json, (data) => {
        const rendered = renderEnvelope({ ...envelope, data: data as never })
        expect(renderEnvelope(parseEnvelope(rendered))).toBe(rendered)
      }),
      { numRuns: 200 },
    )
  })

  test.each<[string, object]>([
    ['position 0', { position: 0 }],
    ['a fraction as version', { version: 1.5 }],
    ['an empty stream', { stream: '' }],
    ['a time without microseconds', { recorded_at: '2026-01-02T03:04:05.006Z' }],
    ['an unknown source', { source: 'telepathy' }],
    ['data that is a list', { data: [] }],
    ['a NUL in the data', { data: { a: 'x\0' } }],
  ])('%s is not an event', (_, change) => expect(() => parseEnvelope(JSON.stringify({ ...envelope, ...change }))).toThrow())

  test('an instant has microseconds', () => {
    expect(instant(0, 7)).toBe('1970-01-01T00:00:00.000007Z')
    expect(instant(Date.UTC(2026, 0, 2), 999)).toBe('2026-01-02T00:00:00.000999Z')
  })
})

describe('chain', () => {
  // Computed once by another program: a change of these breaks every log there is.
  test('the chain of a tiny log is fixed for ever', () => {
    const start = genesis('00000000-0000-4000-8000-000000000000')
    expect(start.toString('hex')).toBe('db8055e0e0307d5a016bec4dc338d69875eb0fb7e614a8b125b08fb082095d98')
    expect(leafHash('{}').toString('hex')).toBe('28a3a18f6cd6406b086e9ffda1f9b8a13dbcf44b0f3f32cb9031a11fd053acf9')
    const first = nextChain(start, text)
    expect(first.toString('hex')).toBe('326aabcfd2c816fc9206ecfceea438b5f94fe11aca09ea5c5762d2f6d0989e4c')
    expect(nextChain(first, '{"ü":"🙂"}').toString('hex')).toBe('1beb796e3c4e53e70481ef8bb182a5f0e68d2c73a525f4e6766060c58a1cb105')
  })

  test('a text and its bytes have one hash', () => expect(leafHash('ü🙂')).toEqual(leafHash(Buffer.from('ü🙂'))))

  test('a leaf is not the hash of the text alone, so that a leaf can never pass as a chain', () =>
    expect(leafHash('a').equals(genesis('a'))).toBe(false))
})
