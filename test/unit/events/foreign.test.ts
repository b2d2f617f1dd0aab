import { describe, expect, test } from '@jest/globals'
import { v4, v7 } from 'uuid'
import { catalogue } from '../../../events/catalogue/catalogue.js'
import {
  categoryOf,
  isForeignType,
  ownTypeOf,
  storedTypeIn,
  unfitData,
  unfitStream,
  unfitType,
  type ForeignEvent,
} from '../../../events/foreign.js'
import { readHeader, readKind, renderEnvelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { predictionsStream } from '../../../events/records/predictions.js'
import { stream } from '../../support/log/log.js'

describe('streams', () => {
  test('a foreign one is called by a category, a hyphen and an id', () => {
    expect(['invoice-7', 'Shopping_Cart-a/b c', `guest-${v7()}`, 'log-1'].map(categoryOf)).toEqual([
      'invoice',
      'Shopping_Cart',
      'guest',
      'log',
    ])
    for (const name of ['invoice-7', `guest-${v4()}`]) expect(unfitStream(name)).toBeUndefined()
  })

  test('none of ours is one, whatever its digits', () => {
    const uuids = Array.from({ length: 200 }, () => [v7(), v4()]).flat()
    for (const uuid of [...uuids, 'deadbeef-dead-7eef-8ead-beefdeadbeef']) {
      expect(categoryOf(uuid)).toBeUndefined()
      expect(categoryOf(uuid.toUpperCase())).toBeUndefined()
    }
    for (const name of [logStream, stream(1), predictionsStream(stream(1))])
      expect(unfitStream(name)).toContain('does not accept events from outside')
  })

  test.each(['', 'invoice', 'invoice-', '-7', '7-invoice', 'in voice-7', 'a-"', 'a-\\', 'a-\n', 'a-\ud800', `a-${'x'.repeat(254)}`])(
    '%j is refused',
    (name) => expect(unfitStream(name)).toEqual(expect.any(String)),
  )
})

describe('types', () => {
  test('are stored with the category of their stream, and read as they were given', () => {
    const type = storedTypeIn('invoice-7', 'InvoiceIssued')
    expect(type).toBe('invoice.InvoiceIssued')
    expect([isForeignType(type), ownTypeOf(type)]).toEqual([true, 'InvoiceIssued'])
    expect([...catalogue.keys()].filter(isForeignType)).toEqual([])
    expect([...catalogue.keys()].map(ownTypeOf)).toEqual([...catalogue.keys()])
  })

  test.each(['', 'a.b', 'a-b', '7a', 'a b', 'ä', 'x'.repeat(250)])('%j is refused', (type) =>
    expect(unfitType('invoice-7', type)).toEqual(expect.any(String)),
  )

  test('stand in the beginning of a stored text as those of ours do', () => {
    const event: ForeignEvent = { type: 'invoice.InvoiceIssued', data: { a: 1 } }
    const where = { position: 3, stream: 'invoice-7', version: 1, schema: 1, recorded_at: '2026-01-01T00:00:00.000000Z' }
    const origin = { actor: 'billing', source: 'system', request: null, correlation: null, causation: null } as const
    const text = renderEnvelope({ ...where, ...event, ...origin })
    expect(readKind(text)).toEqual({ position: 3, type: 'invoice.InvoiceIssued', schema: 1 })
    expect(readHeader(text)).toMatchObject({ type: 'invoice.InvoiceIssued', stream: 'invoice-7', actor: 'billing' })
  })
})

describe('data', () => {
  test('is any JSON object', () => {
    for (const data of [{}, { a: [1, null, { b: 'ü' }], c: true }, Object.assign(Object.create(null), { a: 1 })] as unknown[])
      expect(unfitData(data)).toBeUndefined()
  })

  class Money {
    amount = 1
  }
  test.each<[unknown, string]>([
    [[], 'data is not an object'],
    ['a', 'data is not an object'],
    [{ a: { b: undefined } }, 'data.a.b is not a JSON value'],
    [{ a: NaN }, 'data.a is not a finite number'],
    [{ a: 1n }, 'data.a is not a JSON value'],
    [{ a: 'x\0' }, 'data.a contains a NUL character'],
    [{ a: '\ud800' }, 'data.a is not well-formed Unicode (a lone surrogate)'],
    [{ at: new Date(0) }, 'data.at is not a plain object'],
    [{ a: [new Map([[1, 2]])] }, 'data.a[0] is not a plain object'],
    [{ a: new Money() }, 'data.a is not a plain object'],
    [{ toJSON: () => 'b' }, 'data.toJSON is not a JSON value'],
    [{ a: { $secret: '8e0f' } }, 'data.a.$secret is not allowed'],
    [JSON.parse('{"__proto__": 1}'), 'data.__proto__ is a key that is not allowed'],
  ])('%p is refused: %s', (data, reason) => expect(unfitData(data)).toContain(reason))

  test('that goes round in a circle is refused, not followed for ever', () => {
    const data: Record<string, unknown> = {}
    data['self'] = data
    expect(unfitData(data)).toContain('is nested deeper than 64 levels')
  })
})
