import { expect, test } from '@jest/globals'
import { noColumn } from '../../../src/sql/engine/errors/no-column.js'
import type { Session } from '../../../src/sql/engine/session/session.js'

test('a statement or a view is read in another way for many places, and not for ever', async () => {
  const error = new Error('Binder Error: Macro user() does not support the supplied arguments')
  const macros = new Map([['user', 'either']])
  const sessionWith = (places: number) => ({ macros, strings: new Set(Array.from({ length: places }, (_, n) => n)) }) as unknown as Session
  expect(await noColumn(error, sessionWith(200))).toBe('user')
  expect(await noColumn(error, sessionWith(1_000))).toBeUndefined()
})
