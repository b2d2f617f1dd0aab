import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { foldName, jsonObject, mapMembers, resourceName, text, unfitJson, type Json, type JsonObject } from '../../../events/common.js'
import { eventLimits } from '../../../events/limits.js'
import { limits } from '../../../src/basics/limits.js'

const nested = (levels: number): Json => (levels === 0 ? 1 : { a: nested(levels - 1) })

describe('what may not enter the log as JSON', () => {
  test.each<[string, unknown, string, string]>([
    ['a lone surrogate in a value', { a: ['x', '\ud800'] }, 'a[1]', 'lone surrogate'],
    ['a lone surrogate in a key', { o: { '\udfff': 1 } }, 'o.\udfff', 'lone surrogate'],
    ['NUL in a value', { a: { b: 'x\0y' } }, 'a.b', 'NUL'],
    ['NUL in a key', { 'x\0': 1 }, 'x\0', 'NUL'],
    ['NaN', { n: Number.NaN }, 'n', 'finite'],
    ['infinity', [Number.POSITIVE_INFINITY], '[0]', 'finite'],
    ['undefined', { u: undefined }, 'u', 'not a JSON value'],
    ['a big integer', { b: 1n }, 'b', 'not a JSON value'],
    ['a function', { f: () => 1 }, 'f', 'not a JSON value'],
    ['the key __proto__', JSON.parse('{"a":{"__proto__":{"x":1}}}'), 'a.__proto__', 'not allowed'],
    ['one level too many', nested(eventLimits.jsonMaxDepth + 1), Array(eventLimits.jsonMaxDepth).fill('a').join('.'), 'nested deeper'],
  ])('%s, and it is named', (_, value, path, reason) => {
    const unfit = unfitJson(value)
    expect(unfit?.[0]).toBe(path)
    expect(unfit?.[1]).toContain(reason)
  })

  test('thousands of levels are refused, not a stack overflow', () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown
    expect(unfitJson(deep)?.[1]).toContain('nested deeper')
  })

  test('what fits passes: the deepest level, paired surrogates, other odd keys', () => {
    expect(unfitJson(nested(eventLimits.jsonMaxDepth))).toBeUndefined()
    expect(unfitJson({ a: '🙂', constructor: 1, toString: null, '': [] })).toBeUndefined()
  })

  test('an object is neither null nor a list', () => {
    expect(jsonObject.safeParse(null).success).toBe(false)
    expect(jsonObject.safeParse([]).success).toBe(false)
    expect(jsonObject.safeParse({}).success).toBe(true)
  })

  test('a text has a longest length', () => {
    expect(text.safeParse('a'.repeat(eventLimits.textMaxChars)).success).toBe(true)
    expect(text.safeParse('a'.repeat(eventLimits.textMaxChars + 1)).success).toBe(false)
    expect(text.safeParse('\0').success).toBe(false)
  })

  test("the log's own limits are the ones that are documented", () => {
    expect(limits.nameMaxChars).toBe(eventLimits.nameMaxChars)
    expect(limits.jsonMaxDepth).toBe(eventLimits.jsonMaxDepth)
  })
})

test('other values under the same keys keep their order and set no prototype', () => {
  const from = JSON.parse('{"b":1,"__proto__":2,"a":3,"7":4}') as JsonObject
  const to = mapMembers(from, (value, key) => `${key}${JSON.stringify(value)}`)
  expect(JSON.stringify(to)).toBe('{"7":"74","b":"b1","__proto__":"__proto__2","a":"a3"}')
  expect(Object.getPrototypeOf(to)).toBe(Object.prototype)
})

describe('names', () => {
  test.each(['', ' a', 'a ', 'a/b', 'a\\b', 'a\nb', 'a\0', '\u0085', '.', '..', '__proto__', '\ud800', 'x'.repeat(256)])(
    '%j is refused',
    (name) => expect(resourceName.safeParse(name).success).toBe(false),
  )

  test.each(['a', 'Sales 2024', '2024', 'naïve', '日本', '🙂', 'a.b', "o'hara", 'constructor', 'x'.repeat(255)])('%j is a name', (name) =>
    expect(resourceName.safeParse(name).success).toBe(true),
  )

  test('names that differ in case or composition are one name', () => {
    expect(foldName('SALES')).toBe(foldName('sales'))
    expect(foldName('Cafe\u0301')).toBe(foldName('café'))
    expect(foldName('J\u030c')).toBe(foldName('\u01f0'))
  })

  test('folding a folded name changes nothing, nor does composing or decomposing it before', () => {
    const marks = fc.array(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 0x300, max: 0x36f }).map((c) => String.fromCodePoint(c)),
      ),
    )
    fc.assert(
      fc.property(marks, (parts) => {
        const name = parts.join('')
        const folded = foldName(name)
        expect(foldName(folded)).toBe(folded)
        expect(foldName(name.normalize('NFD'))).toBe(folded)
      }),
      { numRuns: 2_000 },
    )
  })
})
