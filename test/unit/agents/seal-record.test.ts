import { describe, expect, test } from '@jest/globals'
import { isProblem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import type { AnswerRecord } from '../../../src/agents/contract/answer-record.js'
import { answerRecord } from '../../../src/agents/record/record-schema.js'
import { sealAnswer, sealRecord } from '../../../src/agents/record/seal-record.js'
import { Vault } from '../../../src/vault/vault.js'
import { recordOf } from '../../support/agents/answer-maker.js'
import { testKey } from '../../support/log/log.js'

const vault = new Vault(testKey)
const opened = (record: AnswerRecord): AnswerRecord =>
  answerRecord.parse(JSON.parse(vault.open({ ...sealAnswer(vault, record) })?.toString() ?? ''))
const codeOf = (seal: () => unknown): string => {
  try {
    seal()
    return 'sealed'
  } catch (error) {
    return isProblem(error) ? error.code : 'another error'
  }
}

describe('the record of an answer', () => {
  test('is opened as it was sealed, with members that this release does not know', () => {
    const record = { ...recordOf('q', 'a'), later: { of: 'another release' } }
    expect(opened(record)).toEqual(record)
  })

  test('has no half of a character, which a stream may have cut', () => {
    expect(opened(recordOf('cut \ud83d', 'a'))).toMatchObject({ question: 'cut \ufffd' })
  })

  test('gives up rows before it is too large, and is refused when its words alone are', () => {
    const [tool] = recordOf('q', 'a').tools
    const rows = Array.from({ length: 200 }, () => ['x'.repeat(limits.payloadMaxBytes / 100)])
    const record = { ...recordOf('q', 'a'), tools: [{ ...tool!, rows }] }
    expect(opened(record).tools[0]).toEqual({ ...tool, rows: [], cut: true })
    expect(codeOf(() => sealRecord(vault, record))).toBe('too_large')
    expect(codeOf(() => sealAnswer(vault, recordOf('x'.repeat(limits.payloadMaxBytes), 'a')))).toBe('too_large')
  })
})
