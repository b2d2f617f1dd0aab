import { expect, test } from '@jest/globals'
import { Channel } from '../../src/basics/concurrency/channel.js'

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

test('items come in their order, also those that were put in before somebody reads', async () => {
  const channel = new Channel<number>()
  channel.put(1)
  channel.put(2)
  setImmediate(() => {
    channel.put(3)
    channel.end()
  })
  expect(await all(channel)).toEqual([1, 2, 3])
})

test('items that wait are joined where that is possible, and no others', async () => {
  const channel = new Channel<string | number>((last, item) =>
    typeof last === 'string' && typeof item === 'string' ? last + item : undefined,
  )
  for (const item of ['a', 'b', 1, 2, 'c', 'd']) channel.put(item)
  channel.end()
  expect(await all(channel)).toEqual(['ab', 1, 2, 'cd'])
})
