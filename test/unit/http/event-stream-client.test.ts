import { expect, test } from '@jest/globals'
import { EventStreamParser } from '../../support/log/event-stream-client.js'

test('the parser of these tests reads as the standard says', () => {
  const parser = new EventStreamParser()
  const text = '\uFEFF: note\r\ndata: a\ndata:b\rdata\nid: 1\n\nevent:e\nid\ndata:  x\n\nid: 7\n\ndata: lost'
  for (const byte of new TextEncoder().encode(text)) parser.push(Uint8Array.of(byte))
  expect(parser.messages).toEqual([
    { id: '1', event: 'message', data: 'a\nb\n' },
    { id: '', event: 'e', data: ' x' },
  ])
  expect([parser.lastEventId, parser.comments, parser.isWithin]).toEqual(['7', 1, true])
})
