import { readFile } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { LongWork, LoopTurns } from '../../../src/basics/long-work.js'

/** Uses the turn until a timer that was set in it is due. */
const useTurn = (): void => {
  const until = performance.now() + 5
  while (performance.now() < until);
}

describe('a turn of the event loop', () => {
  test('comes after what became due in the one before it, also when that one began with news from outside', async () => {
    const order: string[] = []
    await new Promise<void>((resolve, reject) => {
      readFile('package.json', () => {
        setTimeout(() => order.push('a timer'), 0)
        useTurn()
        new LoopTurns().take().then(resolve, reject)
      })
    })
    order.push('the turn')
    expect(order).toEqual(['a timer', 'the turn'])
  })

  test('is given in the order of asking, and what became due comes in between', async () => {
    const turns = new LoopTurns()
    const order: string[] = []
    const take = async (name: string) => {
      await turns.take()
      order.push(name)
      setTimeout(() => order.push(`a timer of the ${name}`), 0)
      useTurn()
    }
    await Promise.all(['first', 'second', 'third'].map(take))
    expect(order).toEqual(['first', 'a timer of the first', 'second', 'a timer of the second', 'third'])
  })

  test('of long work with a number of parts ends after these, however quick they are', async () => {
    let taken = 0
    const turns = { take: async () => void (taken += 1) }
    const work = new LongWork({ turns, maxParts: 3 })
    for (let part = 0; part < 9; part++) await work.pause()
    expect(taken).toBeGreaterThanOrEqual(3)
  })
})
