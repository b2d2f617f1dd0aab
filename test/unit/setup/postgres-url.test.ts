import { expect, test } from '@jest/globals'
import { addressesIn, isPostgresUrl, placeIn } from '../../../src/setup/postgres-url.js'

test.each([
  ['postgres://db/ledger', ['postgres://db/ledger']],
  [
    'postgresql://me:p%2Cw@a:1,b,[::1]:3/l?sslmode=require',
    ['a:1', 'b', '[::1]:3'].map((at) => `postgresql://me:p%2Cw@${at}/l?sslmode=require`),
  ],
  ['postgres://me:p,w@a,b/l', ['postgres://me:p,w@a/l', 'postgres://me:p,w@b/l']],
  ['postgres:///l?host=/run/postgresql', ['postgres:///l?host=/run/postgresql']],
])('%s is read', (url, addresses) => {
  expect(addressesIn(url)).toEqual(addresses)
  expect(isPostgresUrl(url)).toBe(true)
})

test.each([
  'postgres://a,/l',
  'postgres://,a/l',
  'postgres://a,b',
  'postgres://a:b,c/l',
  'postgres://me:12/34@a/l',
  'mysql://a/l',
  '/var/lib',
  '',
  `postgres://${Array.from({ length: 9 }, (_, n) => `h${n}`).join()}/l`,
])('%s is refused', (url) => expect(isPostgresUrl(url)).toBe(false))

test('a place has no password', () => expect(addressesIn('postgres://me:secret@a:1,b/l').map(placeIn)).toEqual(['a:1/l', 'b/l']))
