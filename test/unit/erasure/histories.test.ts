import { expect, test } from '@jest/globals'
import { withoutTurns } from '../../../src/erasure/histories.js'

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
