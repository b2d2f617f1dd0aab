import { expect, test } from '@jest/globals'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { onRecord } from '../../../src/knowledge/record-search.js'
import type { TokenUsage } from '../../../src/llm/contract/language-model.js'
import { origin, stream, withLog, writes } from '../../support/log/log.js'

const erased = { what: 'request' as const, subject: 'r', reason: null, payloads: [], blobs: [] }

test('a search of work that an erasure refuses is recorded with its tokens and without its words', () =>
  withLog(async ({ ledger, log }) => {
    const counted: TokenUsage[] = []
    const spending = {
      reserve: async (tokens: number) => ({ tokens, left: tokens, settle: () => undefined }),
      recorded: (usage: TokenUsage) => void counted.push(usage),
    }
    const searching = { base: { stream: stream(1), version: 1 }, question: 'how many?' }
    // The work, such as the answer to a message, began before the search.
    const searchFor = { origin: await ledger.guarded(origin), purpose: 'skill' as const }
    const parts = { ledger, spending, isStopping: () => false }
    const result = await onRecord(parts, searching, searchFor, async (asking) => {
      const model = { provider: 'openai', model: 'small', host: 'api.openai.com', estimate: 9 }
      await asking('embedding', model, async ({ onUsed }) => onUsed({ input: 70, output: 0 }))
      await log.submit(writes({ stream: logStream, event: { type: 'DataErased', data: erased } }))
      return { chunks: [], position: 1 }
    })
    expect(result).toEqual({ chunks: [], position: 1 })
    expect(counted).toMatchObject([{ input: 70 }])
    const { type, data } = parseEnvelope((await log.readAll(0, 10)).at(-1)!.text)
    expect(type).toBe('KnowledgeSearched')
    expect(data).toMatchObject({ outcome: 'complete', embedding: { input_tokens: 70 } })
    expect(data).not.toHaveProperty('payload')
  }))
