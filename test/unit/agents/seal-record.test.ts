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
