import { expect, test } from '@jest/globals'
import { HeldBytes } from '../../../src/connections/process/held-bytes.js'
import type { DatabaseSession } from '../../../src/connections/engines/contract/engine.js'

const session = () => ({ received: 100 }) as unknown as { received: number } & DatabaseSession

test('the session that holds most gives way when all hold too much', () => {
  const held = new HeldBytes(50)
  const [one, other] = [session(), session()]
  const [ofOne, ofOther] = [held.hold(one), held.hold(other)]
  Object.assign(one, { received: 120 })
  Object.assign(other, { received: 130 })
  expect([ofOne.isTooMuch, ofOther.isTooMuch]).toEqual([false, false])
  Object.assign(one, { received: 121 })
  expect([ofOne.isTooMuch, ofOther.isTooMuch]).toEqual([false, true])
  ofOther.end()
  expect(ofOne.isTooMuch).toBe(false)
})

test('what is passed on is not held', () => {
  const held = new HeldBytes(50)
  const one = session()
  const holding = held.hold(one)
  Object.assign(one, { received: 160 })
  expect(holding.isTooMuch).toBe(true)
  holding.taken(140)
  expect(holding.isTooMuch).toBe(false)
})

test('a session that was closed holds nothing, also before its end', () => {
  const held = new HeldBytes(50)
  const [one, other] = [session(), session()]
  const [ofOne, ofOther] = [held.hold(one), held.hold(other)]
  Object.assign(one, { received: 140 })
  Object.assign(other, { received: 150 })
  Object.assign(other, { isLost: true })
  expect([ofOne.isTooMuch, ofOther.isTooMuch]).toEqual([false, false])
})
