import { describe, expect, test } from '@jest/globals'
import { recordLimits, shortRecord } from '../../../projections/payloads/long-records.js'
import { recordOf } from '../../support/agents/answer-maker.js'

const { wholeMaxBytes, textMaxChars, allMaxChars } = recordLimits
const short = (record: unknown) => shortRecord(Buffer.from(JSON.stringify(record)))

describe('the record of an answer, as tables are made from it,', () => {
  test('is whole up to its limit, byte for byte', () => {
    const text = JSON.stringify({ ...recordOf('q', 'a'), history: 'x'.repeat(wholeMaxBytes / 2) })
    expect(shortRecord(Buffer.from(text))).toBe(text)
    expect(shortRecord(Buffer.from('no JSON'))).toBe('no JSON')
  })

  test('beyond it has the beginnings of its texts, and no rows', () => {
    const record = recordOf('q'.repeat(wholeMaxBytes), 'a')
    const { question, answer, tools, exchanges, ...more } = JSON.parse(short(record)) as typeof record & { exchanges: { new: string }[] }
    expect(question).toBe(`${'q'.repeat(textMaxChars)}…`)
    expect(answer).toBe('a')
    expect(tools).toEqual([{ call: { input: record.tools[0]?.call.input }, output: 'word: planted', sql: `SELECT 'planted' AS word` }])
    expect(exchanges[1]?.new).toBe(JSON.stringify(record.exchanges[1]?.new))
    expect(more).toEqual({})
  })

  test('cuts no character in two', () => {
    const { question } = JSON.parse(short(recordOf(`x${'🦆'.repeat(wholeMaxBytes)}`, 'a'))) as { question: string }
    expect(question.isWellFormed()).toBe(true)
  })

  test('is bounded, however many texts there are', () => {
    const [tool] = recordOf('q', 'a').tools
    const record = { ...recordOf('q', 'a'), tools: Array.from({ length: 1_000 }, () => ({ ...tool!, output: '\u0001'.repeat(10_000) })) }
    expect(short(record).length).toBeLessThan(2 * allMaxChars)
  })

  test.each([
    ['a list', [['x'.repeat(wholeMaxBytes)]]],
    ['a text', 'x'.repeat(wholeMaxBytes)],
  ])('is empty if it is %s', (_, record) => {
    expect(short(record)).toBe('')
  })

  test('has nothing in the place of what is of another type', () => {
    const forged = { question: 1, answer: ['x'.repeat(wholeMaxBytes)], exchanges: [1, null, { new: 1, response: [] }], tools: { a: 1 } }
    expect(JSON.parse(short(forged))).toEqual({
      question: null,
      answer: null,
      exchanges: [
        { new: null, response: { text: null } },
        { new: null, response: { text: null } },
        { new: '1', response: { text: null } },
      ],
      tools: [],
    })
  })
})
