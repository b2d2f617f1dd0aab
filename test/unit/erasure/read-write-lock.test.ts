import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReadWriteLock } from '../../../src/erasure/read-write-lock.js'
import { until } from '../../support/until.js'

test('some work runs side by side, other work alone, in the order of asking; a failure keeps nobody waiting', async () => {
  const rows = new ReadWriteLock()
  const seen: string[] = []
  /** Work that takes so long, and ends after another one if that is said. */
  const work = (name: string, ms: number, after?: string) => async () => {
    seen.push(`${name} begins`)
    await sleep(ms)
    await until(() => after === undefined || seen.includes(`${after} ends`))
    seen.push(`${name} ends`)
    if (name === 'fails') throw new Error('it failed')
  }
  await Promise.all([
    rows.beside(work('one', 30, 'two')),
    rows.beside(work('two', 10)),
    expect(rows.alone(work('fails', 10))).rejects.toThrow('it failed'),
    rows.alone(work('alone', 1)),
    rows.beside(work('three', 10, 'four')),
    rows.beside(work('four', 1)),
  ])
  expect(seen.map((text) => text.replace(' begins', '+').replace(' ends', '-'))).toEqual([
    ...['one+', 'two+', 'two-', 'one-'],
    ...['fails+', 'fails-', 'alone+', 'alone-'],
    ...['three+', 'four+', 'four-', 'three-'],
  ])
})
