import { expect, test } from '@jest/globals'
import type { Envelope } from '../../../events/stored/envelope.js'
import { limits } from '../../../src/basics/limits.js'
import { cutHistories, withoutTurns } from '../../../src/erasure/plan/conversation-turns.js'

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })
const system = { role: 'system', content: 'rules' }
const history = [user('yes'), assistant('a'), user('yes'), assistant('b'), user('no'), assistant('c')]
const recordOf = (fresh: object[]) => ({ question: 'q', history, exchanges: [{ new: fresh, response: {} }, { new: [] }], answer: 'x' })
const turns = { a: ['yes', 'a'], b: ['yes', 'b'], c: ['no', 'c'] }
const without = (record: object, ...gone: (keyof typeof turns)[]): unknown => {
  const staying = Object.entries(turns).flatMap(([key, turn]) => (gone.some((one) => one === key) ? [] : [JSON.stringify(turn)]))
  const cut = withoutTurns(Buffer.from(JSON.stringify(record)), new Set(staying))
  return cut === undefined ? undefined : JSON.parse(cut)
}

test('a turn is cut out of the history and the prompt, and turns with the same message stay', () => {
  const record = recordOf([system, ...history, user('q')])
  expect(without(record, 'b')).toEqual({
    ...record,
    history: [user('yes'), assistant('a'), user('no'), assistant('c')],
    exchanges: [{ new: [system, user('yes'), assistant('a'), user('no'), assistant('c'), user('q')], response: {} }, { new: [] }],
    history_erased: true,
  })
})

test('a prompt with only the last turns loses those of them that go, and a question in the words of a turn stays', () => {
  const record = recordOf([system, ...history.slice(2), user('yes')])
  expect(without(record, 'a')).toMatchObject({ history: history.slice(2), exchanges: [{ new: record.exchanges[0]!.new }, {}] })
  expect(without(record, 'a', 'b', 'c')).toMatchObject({ history: [], exchanges: [{ new: [system, user('yes')] }, {}] })
})

test('a record whose turns all stay, one without exchanges, and a payload that is no record', () => {
  expect(without(recordOf([system, ...history, user('q')]))).toBeUndefined()
  expect(without({ history, exchanges: [] }, 'c')).toEqual({ history: history.slice(0, 4), exchanges: [], history_erased: true })
  for (const text of ['', '{', '[]', '{"history":[1],"exchanges":[]}', '{"history":[]}'])
    expect(withoutTurns(Buffer.from(text), new Set())).toBeUndefined()
  expect(withoutTurns(undefined, new Set())).toBeUndefined()
})

const conversation = 'a conversation'
const event = (position: number, type: string, data: object): Envelope => ({
  ...{ position, stream: conversation, version: position, type, schema: 1, recorded_at: '2026-01-01T00:00:00.000000Z', actor: 'ann' },
  ...{ source: 'rest', request: null, correlation: null, causation: null, data: { ...data, payload: `payload ${position}` } },
})

test('answers are only read as long as they may have been told an erased turn', async () => {
  const count = limits.conversationHistoryMaxTurns + 2
  const all = Array.from({ length: count }, (_, i) => [
    event(3 * i + 1, 'MessageReceived', { message: `m${i}` }),
    event(3 * i + 2, 'AgentAnswered', { conversation, purpose: 'conversation' }),
    event(3 * i + 3, 'MessageSent', { message: `m${i}` }),
  ]).flat()
  const read: string[] = []
  const stored = async (after: number) =>
    all.filter(({ position }) => position > after).map((one) => ({ position: one.position, text: JSON.stringify(one) }))
  const log = {
    readAll: stored,
    readStream: async (_: string, after: number) => (after === 0 ? stored(0) : []),
    payloadState: async () => ({ isErased: false, replacedBy: null, bytes: 1 }),
    payload: async (hash: string) => {
      read.push(hash)
      return Buffer.from(JSON.stringify({ text: hash, history: [], exchanges: [] }))
    },
  }
  const erasing = { goes: ({ position }: Envelope) => position <= 3, touches: () => true }
  for await (const planned of cutHistories(log, 0, erasing)) expect(planned).toBeUndefined()
  const answers = all.filter(({ type }) => type === 'AgentAnswered').map(({ data }) => data['payload'])
  expect(read.filter((hash) => answers.includes(hash))).toEqual(answers.slice(1, -1))
})
