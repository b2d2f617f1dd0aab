import { expect, test } from '@jest/globals'
import { compareReleases } from '../../../src/setup/version.js'

/** The order of the specification of semver, with numbers of several digits. */
const inOrder = [
  'unknown',
  '0.9.0',
  '0.10.0',
  '1.0.0-1',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0-rc.1.1',
  '1.0.0',
  '1.0.1-rc.1',
  '1.0.1',
  '1.1.0',
  '2.0.0-0',
  '2.0.0',
]

test('releases have the order of semver: a pre-release comes before its release', () => {
  for (const [i, a] of inOrder.entries())
    for (const [j, b] of inOrder.entries()) expect([a, b, Math.sign(compareReleases(a, b))]).toEqual([a, b, Math.sign(i - j)])
})

test('builds of one release are equal, and so are texts that are no releases', () => {
  expect(compareReleases('1.0.0+linux', '1.0.0')).toBe(0)
  expect(compareReleases('1.0.0-rc.1+1', '1.0.0-rc.1+2')).toBe(0)
  expect(compareReleases('', 'unknown')).toBe(0)
})
