import { describe, expect, test } from '@jest/globals'
import { checkExpects } from '../../../src/log/contract/precondition.js'
import { expectsOf } from '../../../src/http/protocol/conditional-requests.js'
import { prefersDryRun, readTraceparent } from '../../../src/http/protocol/request-headers.js'

const withHeaders = (headers: Record<string, string>) => ({ header: (name: string) => headers[name] })

describe('If-Match and If-None-Match', () => {
  test.each([
    ['*', '*'],
    ['"3"', [3]],
    [' "3" ,, "4",', [3, 4]],
    ['W/"3", "4"', [4]],
    ['"abc", "03", "", "0"', []],
    ['"a,b", "5"', [5]],
  ])('If-Match: %s is read as RFC 9110 writes it', (value, match) =>
    expect(expectsOf(withHeaders({ 'If-Match': value }))).toEqual({ match }),
  )

  test.each(['3', '"3', '"3" "4"', 'w/"3"', '*, "3"', '', ' , ', '"3";'])('If-Match: %s is refused', (value) =>
    expect(() => expectsOf(withHeaders({ 'If-Match': value }))).toThrow(/If-Match/),
  )

  test('If-None-Match compares weakly', () =>
    expect(expectsOf(withHeaders({ 'If-None-Match': 'W/"3", "4"' }))).toEqual({ noneMatch: [3, 4] }))

  test('what is expected is held against the version, or that there is none', () => {
    for (const [expects, version] of [
      [{ match: [2, 3] }, 3],
      [{ match: '*' }, 1],
      [{ noneMatch: '*' }, undefined],
      [{ noneMatch: [2] }, 3],
    ] as const)
      expect(() => checkExpects(expects, version)).not.toThrow()
    for (const [expects, version] of [
      [{ match: [2] }, 3],
      [{ match: [] }, 3],
      [{ match: '*' }, undefined],
      [{ match: [3] }, undefined],
      [{ noneMatch: '*' }, 3],
      [{ noneMatch: [3] }, 3],
    ] as const)
      expect(() => checkExpects(expects, version)).toThrow(version === undefined ? 'no such resource' : 'version 3')
  })
})

describe('Prefer', () => {
  test.each([
    ['dry-run', true],
    ['Dry-Run', true],
    ['return=minimal, dry-run', true],
    ['dry-run; x=1, wait=10', true],
    ['dry-run=""', true],
    ['foo="a, dry-run", bar', false],
    ['foo="\\", dry-run"', false],
    ['dry-runs', false],
    ['x; dry-run', false],
    ['', false],
  ])('%s', (value, wanted) => expect(prefersDryRun(value)).toBe(wanted))

  test('a value is refused, since dry-run=false must not be taken for a dry run or for none', () => {
    for (const value of ['dry-run=false', 'dry-run = "0"']) expect(() => prefersDryRun(value)).toThrow('takes no value')
    expect(prefersDryRun(undefined)).toBe(false)
  })
})

describe('traceparent', () => {
  const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  test.each([
    [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-01`],
    [` 00-${trace}-${parent}-00 `, `00-${trace}-${parent}-00`],
    [`00-${trace}-${parent}-03`, `00-${trace}-${parent}-03`],
    [`cc-${trace}-${parent}-09-what-follows`, `00-${trace}-${parent}-01`],
    [`cc-${trace}-${parent}-08`, `00-${trace}-${parent}-00`],
    [`ff-${trace}-${parent}-01`, undefined],
    [`00-${trace}-${parent}-01-more`, undefined],
    [`cc-${trace}-${parent}-01.more`, undefined],
    [`00-${'0'.repeat(32)}-${parent}-01`, undefined],
    [`00-${trace}-${'0'.repeat(16)}-01`, undefined],
    [`00-${trace.toUpperCase()}-${parent}-01`, undefined],
    [`00-${trace}-${parent}`, undefined],
    [`00-${trace}-${parent}-01, 00-${trace}-${parent}-01`, undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (value, read) => expect(readTraceparent(value)).toBe(read))
})
