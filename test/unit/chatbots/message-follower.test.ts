import { expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { MessageFollower } from '../../../src/chatbots/message-follower.js'
import { messageFrameOf, Watchers, type MessageNews } from '../../../src/chatbots/watchers.js'

const text = (said: string): MessageNews => ({ frame: { type: 'text', text: said } })
const end: MessageNews = { end: { status: 'failed', reason: 'agent', error: '', notice: null } }

const follow = () => {
  const watchers = new Watchers()
  return { following: new MessageFollower(watchers, 'one'), tell: (news: MessageNews) => watchers.tell('one', news) }
}

test('a reader that comes late gets what was kept, in order, in a time that grows with its number', async () => {
  const { following, tell } = follow()
  const count = 500_000
  for (let i = 0; i < count; i++) tell(text(String(i % 10)))
  tell(end)
  let read = 0
  for await (const news of following.news(new AbortController().signal)) {
    if ('end' in news) break
    if (!('frame' in news) || news.frame.type !== 'text' || news.frame.text !== String(read % 10)) throw new Error(`not the text ${read}`)
    read += 1
  }
  expect(read).toBe(count)
})

test('what happens while a reader waits, or is busy with what came before, is read after it', async () => {
  const { following, tell } = follow()
  const read: string[] = []
  setImmediate(() => {
    tell(text('one'))
    tell(text('two'))
  })
  for await (const news of following.news(new AbortController().signal)) {
    const said = 'frame' in news && news.frame.type === 'text' ? news.frame.text : 'end'
    read.push(said)
    if (said === 'one') tell(text('three'))
    if (said === 'three') tell(end)
  }
  expect(read).toEqual(['one', 'two', 'three', 'end'])
})

test.each<[string, MessageNews]>([
  ['texts of results', { frame: { type: 'result', tool: 'sql', failed: false, text: 'x'.repeat(10_000) } }],
  ['queries', { frame: { type: 'result', tool: 'sql', failed: false, text: '', sql: 'x'.repeat(10_000) } }],
  ['inputs of tools', { frame: { type: 'step', tool: 'sql', input: 'x'.repeat(10_000) } }],
])('a reader that is too slow for long %s is refused', async (_, news) => {
  const [some, many] = [follow(), follow()]
  for (let i = 0; i < 50; i++) some.tell(news)
  expect(await some.following.news(new AbortController().signal).next()).toEqual({ done: false, value: news })
  for (let i = 0; i < limits.messageFramesMaxChars / 10_000; i++) many.tell(news)
  await expect(many.following.news(new AbortController().signal).next()).rejects.toMatchObject({ code: 'busy' })
})

test('the rows of a query are not kept for a reader: they come with the end', () => {
  const result = { type: 'result', tool: 'sql', failed: false, text: '1 row' } as const
  const rows = { sql: 'SELECT 1', columns: ['a'], rows: [[1]], cut: false }
  expect(messageFrameOf({ ...result, rows })).toEqual({ ...result, sql: 'SELECT 1' })
  expect(messageFrameOf(result)).toEqual(result)
})

test('a reader that is too slow is refused, and one that leaves reads nothing more', async () => {
  const slow = follow()
  for (let i = 0; i < 2; i++) slow.tell(text('x'.repeat(limits.messageFramesMaxChars)))
  await expect(slow.following.news(new AbortController().signal).next()).rejects.toMatchObject({ code: 'busy' })
  const left = follow()
  const leaving = new AbortController()
  for (const said of ['one', 'two']) left.tell(text(said))
  const read: MessageNews[] = []
  for await (const news of left.following.news(leaving.signal)) {
    read.push(news)
    leaving.abort()
  }
  expect(read).toEqual([text('one')])
})
