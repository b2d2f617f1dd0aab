import { expect, test } from '@jest/globals'
import { retryAfterMs } from '../../../src/egress/retry-after.js'

const now = Date.UTC(2026, 0, 1)

test.each([
  ['0', 0],
  [' 30 ', 30_000],
  ['1.5', 1_500],
  ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
  ['Wed, 31 Dec 2025 23:59:50 GMT', 0],
])('%j asks for %i ms', (header, ms) => expect(retryAfterMs(header, now)).toBe(ms))

test.each([null, undefined, '', ' ', '-5', 'soon', '1e3', '0x10', '2027'.repeat(3) + 'x'])('%j asks for nothing', (header) =>
  expect(retryAfterMs(header, now)).toBeUndefined(),
)
