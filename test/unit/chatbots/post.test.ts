import { expect, test } from '@jest/globals'
import { judgedByStatus, judgedForChat, waitAfter } from '../../../src/chatbots/channels/post.js'

test('a wait grows up to a minute, and one that a chat service names is kept up to an hour', () => {
  expect([1, 2, 3, 4, 5].map((tries) => waitAfter(tries))).toEqual([1_000, 4_000, 16_000, 60_000, 60_000])
  expect([0, 234_000, 1_386_000, 3_600_000, 7_200_000].map((afterMs) => waitAfter(1, afterMs))).toEqual([
    0, 234_000, 1_386_000, 3_600_000, 3_600_000,
  ])
})

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
