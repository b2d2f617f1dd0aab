import { expect, test } from '@jest/globals'
import { judgedByStatus, judgedForChat } from '../../../src/chatbots/channels/post.js'

test.each([
  [200, undefined, 'sent', 'sent'],
  [429, undefined, 'later', 'later'],
  [503, 1_000, 'later', 'later'],
  [503, undefined, 'later', 'unknown'],
  [500, 1_000, 'later', 'unknown'],
  [502, undefined, 'later', 'unknown'],
  [504, undefined, 'later', 'unknown'],
  [408, undefined, 'later', 'unknown'],
  [400, undefined, 'refused', 'refused'],
])('the status %d, with a wait of %s, is %s to a program and %s in a chat', (status, afterMs, program, chat) => {
  const said = { status, afterMs, body: undefined }
  expect([judgedByStatus(said).end, judgedForChat(said).end]).toEqual([program, chat])
})
