import { describe, expect, test } from '@jest/globals'
import { isProblem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import type { AnswerRecord } from '../../../src/agents/contract/answer-record.js'
import type { EvaluationCase } from '../../../src/agents/contract/evaluation-case.js'
import { answerRecord } from '../../../src/agents/record/record-schema.js'
import { sealAnswer, sealCases, sealRecord } from '../../../src/agents/record/seal-record.js'
import { Vault } from '../../../src/vault/vault.js'
import { recordOf } from '../../support/agents/answer-maker.js'
import { testKey } from '../../support/log/log.js'

const vault = new Vault(testKey)
const opened = async (record: AnswerRecord): Promise<AnswerRecord> =>
  answerRecord.parse(JSON.parse(vault.open(await sealAnswer(vault, record))?.toString() ?? ''))
const codeOf = async (seal: () => unknown): Promise<string> => {
  try {
    await seal()
    return 'sealed'
  } catch (error) {
    return isProblem(error) ? error.code : 'another error'
  }
}

describe('the record of an answer', () => {
  test('is opened as it was sealed, with members that this release does not know', async () => {
    const record = { ...recordOf('q', 'a'), later: { of: 'another release' } }
    expect(await opened(record)).toEqual(record)
  })

  test('has no half of a character, which a stream may have cut', async () => {
    const record = recordOf('cut \ud83d', 'a')
    const [tool] = record.tools
    const seen = await opened({ ...record, tools: [{ ...tool!, output: 'cut \ud83d' }] })
    expect(seen.question).toBe('cut \ufffd')
    expect(seen.tools[0]?.output).toBe('cut \ufffd')
  })

  test('gives up rows before it is too large, and is refused when its words alone are', async () => {
    const [tool] = recordOf('q', 'a').tools
    const rows = Array.from({ length: 200 }, () => ['x'.repeat(limits.payloadMaxBytes / 100)])
    const record = { ...recordOf('q', 'a'), tools: [{ ...tool!, rows }] }
    expect((await opened(record)).tools[0]).toEqual({ ...tool, rows: [], cut: true })
    const comment = 'x'.repeat(limits.payloadMaxBytes)
    expect(await codeOf(() => sealRecord(vault, { comment }))).toBe('too_large')
    expect(await codeOf(() => sealAnswer(vault, recordOf(comment, 'a')))).toBe('too_large')
  })

  const said = 'x'.repeat(limits.agentOutputMaxChars)
  const exchange = (text: string) => ({
    new: [{ role: 'user' as const, content: 'Which?' }],
    response: { text, toolCalls: [], error: 'The answer is too long' },
  })

  test('gives up what reranking models said at length, and keeps what the language model said', async () => {
    const [tool] = recordOf('q', 'a').tools
    const tools = Array.from({ length: limits.agentToolCallsMax }, () => ({ ...tool!, exchanges: [exchange(said), exchange(said)] }))
    const record = { ...recordOf('q', said), tools }
    const { answer, exchanges, cut, tools: kept } = await opened(record)
    expect([answer, cut, kept.length]).toEqual([said, true, tools.length])
    expect(exchanges).toEqual(record.exchanges)
    const texts = kept.flatMap(({ exchanges: all = [] }) => all.map(({ response }) => response.text))
    expect(texts.every((text) => text.startsWith('xxxx') && text.endsWith(' …') && text.length < said.length)).toBe(true)
  })

  test('gives up the length of its texts before the question and the answer', async () => {
    const long = '\u0001'.repeat(limits.agentOutputMaxChars)
    const record = { ...recordOf('q', 'a'), exchanges: Array.from({ length: limits.agentStepsMax }, () => exchange(long)) }
    const { question, answer, cut, exchanges } = await opened(record)
    expect([question, answer, cut, exchanges.length]).toEqual(['q', 'a', true, limits.agentStepsMax])
  })

  test('with much data is sealed in several turns of the event loop', async () => {
    const [tool] = recordOf('q', 'a').tools
    const tools = Array.from({ length: 100 }, () => ({ ...tool!, rows: Array.from({ length: 1_000 }, (_, i) => [i, 'a word of a row']) }))
    let turns = 0
    let isSealed = false
    const count = () => {
      turns++
      if (!isSealed) setImmediate(count)
    }
    setImmediate(count)
    const spent = process.cpuUsage()
    await sealAnswer(vault, { ...recordOf('q', 'a'), tools })
    isSealed = true
    // A turn lasts turnMaxMs at most, and then one item.
    expect(turns).toBeGreaterThan(process.cpuUsage(spent).user / 1_000 / limits.turnMaxMs / 8)
    expect(turns).toBeGreaterThan(2)
  })
})

test('the cases of an evaluation are sealed whatever a judge says, and their scores stay', () => {
  const said = '\u0001'.repeat(limits.agentOutputMaxChars)
  const messages = [{ role: 'user' as const, content: said }]
  const one: EvaluationCase = {
    ...{ question: said, expected: said, answer: said, of: null, gave: null, scores: { judge: 1 } },
    judged: { new: messages, response: { text: said, toolCalls: [], error: 'The answer is too long' } },
  }
  const cases = Array.from({ length: limits.evaluationCasesMax }, () => one)
  const kept = JSON.parse(vault.open(sealCases(vault, cases))?.toString() ?? '') as EvaluationCase[]
  expect(kept.length).toBe(cases.length)
  expect(kept.every(({ scores, cut, judged }) => scores['judge'] === 1 && cut === true && judged?.response.text.endsWith(' …'))).toBe(true)
  const few = [{ ...one, question: 'q', expected: null, answer: 'a' }]
  expect(JSON.parse(vault.open(sealCases(vault, few))?.toString() ?? '')).toEqual(few)
})
