import { expect, test } from '@jest/globals'
import { streamId } from '../../../events/common.js'
import { limits } from '../../../src/basics/limits.js'
import { Conversations } from '../../../src/chatbots/conversations.js'

test('so many conversations wait for an answer, and further messages are refused', () => {
  // No conversation gets a turn.
  const conversations = new Conversations({ leases: { areShared: true }, bounds: { max: 0, perGroupMax: 0 } } as never)
  const conversation = (i: number) => streamId.parse(`0198f0c2-0000-7000-8000-${String(i).padStart(12, '0')}`)
  for (let i = 1; i < limits.chatbotsMaxWaiting; i++) conversations.came(conversation(i), 'bot')
  expect(() => conversations.refuseWhileFull()).not.toThrow()
  conversations.came(conversation(limits.chatbotsMaxWaiting), 'bot')
  expect(() => conversations.refuseWhileFull()).toThrow(
    expect.objectContaining({ code: 'busy', detail: expect.stringContaining('(chatbotsMaxWaiting)') }),
  )
})
