import { expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { emptyPlan, sharesOf, type PlannedPayload } from '../../../src/erasure/plan/plan.js'

const payload = (n: number, bytes: number): PlannedPayload => ({ hash: String(n), standsIn: String(n), stays: null, rows: 1, bytes })
const planOf = (sizes: readonly number[], blobs = 0) => ({
  ...emptyPlan('before', ''),
  payloads: sizes.map((bytes, n) => payload(n, bytes)),
  blobs: Array.from({ length: blobs }, (_, n) => `blob ${n}`),
})
const most = limits.erasedMaxBytesPerEvent

test('an event erases no more payloads, bytes and blobs than the limits say', () => {
  const perEvent = limits.erasedMaxPerEvent / 2
  expect(sharesOf(planOf([]))).toEqual([])
  const many = sharesOf(planOf(Array.from({ length: 2 * perEvent + 1 }, () => 1)))
  expect(many.map(({ payloads }) => payloads.length)).toEqual([perEvent, perEvent, 1])
  const large = sharesOf(planOf([most / 2, most / 2, 1, most, most + 1, 1, 1]))
  expect(large.map(({ payloads }) => payloads.map(({ hash }) => hash))).toEqual([['0', '1'], ['2'], ['3'], ['4'], ['5', '6']])
  const blobs = sharesOf(planOf([most, most], perEvent + 1))
  expect(blobs.map(({ payloads, blobs }) => [payloads.length, blobs.length])).toEqual([
    [1, perEvent],
    [1, 1],
  ])
  expect(sharesOf(planOf([], 1)).map(({ payloads, blobs }) => [payloads.length, blobs.length])).toEqual([[0, 1]])
  expect(sharesOf({ ...planOf([]), replies: true })).toEqual([{ payloads: [], blobs: [] }])
})
