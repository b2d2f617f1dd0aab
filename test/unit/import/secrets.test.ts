import { expect, test } from '@jest/globals'
import { differences, maskedPaths, secretPaths, withoutMasks } from '../../../src/import/secrets.js'

const params = { user: 'u', password: '******', model: { api_key: 'sk-none', name: 'gpt' }, list: [{ token: '***' }], note: '** bold **' }

test('masks and secrets are told by their places, never by their values', () => {
  expect(maskedPaths(params)).toEqual(['password', 'list[0].token'])
  expect(secretPaths(params)).toEqual(['model.api_key'])
  expect(maskedPaths({ url: 'postgres://u:***@host/db' })).toEqual(['url'])
})

test('masks are left out, and nothing else is', () => {
  expect(withoutMasks(params)).toEqual({ user: 'u', model: { api_key: 'sk-none', name: 'gpt' }, list: [{}], note: '** bold **' })
})

test('a mask on either side may stand for any secret, or for a missing one', () => {
  expect(differences({ a: 1, key: 'sk-1' }, { a: 1, key: '******' })).toEqual([])
  expect(differences({ a: { key: '******', b: 2 } }, { a: { b: 2 } })).toEqual([])
  expect(differences({ a: 1, b: [1, { c: 2 }] }, { a: 2, b: [1, { c: 3 }] })).toEqual(['a', 'b'])
})

test('null is as good as nothing, an empty list is not', () => {
  expect(differences({ a: null }, {})).toEqual([])
  expect(differences({ a: [] }, { a: [1] })).toEqual(['a'])
  expect(differences({}, { b: 1 })).toEqual(['b'])
})
