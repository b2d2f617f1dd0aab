import { expect, test } from '@jest/globals'
import type { Log, NewEvent } from '../../../src/log/contract/log.js'
import { stream, withLog, writes } from '../../support/log/log.js'

const started = (n: number, chatbot: number): NewEvent => ({
  stream: stream(n),
  event: { type: 'ConversationStarted', data: { chatbot: stream(chatbot), name: `place ${n}`, channel: 'api' } },
})

const pagesOf = async (log: Log, chatbot: number, limit: number): Promise<number[][]> => {
  const pages: number[][] = []
  for (let after = 0; ;) {
    const page = await log.resources.linkedPage('conversation', stream(chatbot), after, limit)
    if (page.length === 0) return pages
    pages.push(page.map(({ id }) => id))
    after = page.at(-1)?.id ?? after
  }
}

test('pages of what refers to a resource have all of it once, in order of creation, whether that is little or much', () =>
  withLog(async ({ log }) => {
    const [many, few, none] = [1, 2, 3]
    // Names of streams follow no order of creation, and every twentieth conversation is of the other chatbot.
    const ns = Array.from({ length: 1_300 }, (_, i) => 10 + ((i * 877) % 1_300))
    for (let i = 0; i < ns.length; i += 100)
      await log.submit(writes(...ns.slice(i, i + 100).map((n, of) => started(n, (i + of) % 20 === 0 ? few : many))))
    const ids = Array.from(ns, (_, i) => i + 1)
    const ofFew = ids.filter((id) => id % 20 === 1)
    const ofMany = ids.filter((id) => id % 20 !== 1)
    expect((await pagesOf(log, many, 200)).flat()).toEqual(ofMany)
    expect((await pagesOf(log, many, 200)).map(({ length }) => length)).toEqual([200, 200, 200, 200, 200, 200, 35])
    expect(await pagesOf(log, few, 40)).toEqual([ofFew.slice(0, 40), ofFew.slice(40)])
    expect(await pagesOf(log, none, 40)).toEqual([])
    // Of another kind nothing refers to it.
    expect(await log.resources.linkedPage('agent', stream(many), 0, 10)).toEqual([])
    expect(await log.resources.linkedIds('conversation', stream(few))).toEqual(ofFew)
  }))
