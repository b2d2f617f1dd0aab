import { expect, test } from '@jest/globals'
import type { AnswerStep } from '../../../events/records/answers.js'
import { noteOf } from '../../../src/agents/contract/note.js'

const step = (kind: AnswerStep['kind'], name: string, more: Partial<AnswerStep> = {}): AnswerStep => ({
  ...{ kind, name, outcome: 'complete', duration_ms: 1, rows: 1, input_tokens: null, output_tokens: null },
  ...more,
})
const asked = step('model', 'm', { rows: null })
const searched = step('search', 'search_knowledge')
const predicted = step('predict', 'predict')
const failed = step('sql', 'sql', { outcome: 'failed', rows: null })

test.each<[AnswerStep[], string]>([
  [[asked], 'No query was run and nothing was retrieved for this answer.'],
  [[asked, failed, asked], 'No query succeeded and nothing was retrieved for this answer.'],
  [[asked, searched, searched, asked], 'No query was run for this answer: it rests on what search_knowledge gave.'],
  [[searched, predicted], 'No query was run for this answer: it rests on what search_knowledge and predict gave.'],
  [[failed, predicted], 'No query succeeded for this answer: it rests on what predict gave.'],
  [[step('other', 'describe_tables', { rows: null })], 'No query was run for this answer: it rests on what describe_tables gave.'],
  [[step('search', 'search_knowledge', { rows: 0 })], 'No query was run and nothing was retrieved for this answer.'],
  [[step('predict', 'predict', { outcome: 'failed' })], 'No query was run and nothing was retrieved for this answer.'],
])('of an answer without a query it is said what it rests on: %#', (steps, note) => {
  expect(noteOf({ steps, queries: [], exchanges: [] })).toBe(note)
})

test('an answer with rows of a query needs no note, and one whose queries gave no rows says so', () => {
  const query = { sql: 'SELECT 1', columns: ['a'], rows: [[1]], cut: false }
  const empty = { ...query, rows: [] }
  const queried = step('sql', 'sql', { rows: 0 })
  expect(noteOf({ steps: [asked, searched], queries: [empty, query], exchanges: [] })).toBeUndefined()
  expect(noteOf({ steps: [asked, queried, queried], queries: [empty, empty], exchanges: [] })).toBe(
    'No query gave rows and nothing was retrieved for this answer.',
  )
  expect(noteOf({ steps: [failed, queried, searched], queries: [empty], exchanges: [] })).toBe(
    'No query gave rows for this answer: it rests on what search_knowledge gave.',
  )
})

test.each([
  [4_096, 24_000, /counted 4096 of about 6000 tokens of its prompt: its server may have cut it/],
  [5_500, 24_000, undefined],
  [null, 24_000, undefined],
  [0, 24_000, undefined],
  // A short prompt fits into every context.
  [100, 2_000, undefined],
])('an answer for whose prompt the provider counted %j tokens of %d characters', (input, chars, note) => {
  const queries = [{ sql: 'SELECT 1', columns: ['a'], rows: [[1]], cut: false }]
  const response = { text: 'One.', toolCalls: [], finish: 'stop', usage: { input, output: 1 }, model: 'm' } as const
  const first = {
    new: [{ role: 'system', content: 'x'.repeat(chars / 2) }],
    response: { ...response, usage: { input: null, output: 1 } },
  } as const
  const second = { new: [{ role: 'tool', toolCallId: '1', tool: 'sql', content: 'x'.repeat(chars / 2) }], response } as const
  const said = noteOf({ steps: [asked], queries, exchanges: [first, second] })
  expect(said).toEqual(note === undefined ? undefined : expect.stringMatching(note))
})
