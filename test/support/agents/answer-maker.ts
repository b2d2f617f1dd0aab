import { v7 as uuidv7 } from 'uuid'
import { streamId, type StreamId } from '../../../events/common.js'
import type { AgentAnswered, AgentEvaluated, AnswerStep } from '../../../events/records/answers.js'
import type { AnswerRecord } from '../../../src/agents/contract/answer-record.js'
import type { EvaluationCase } from '../../../src/agents/contract/evaluation-case.js'
import { sealAnswer, sealCases, sealRecord } from '../../../src/agents/record/seal-record.js'
import { Ledger } from '../../../src/commands/ledger.js'
import type { Log, Origin } from '../../../src/log/contract/log.js'
import { Vault } from '../../../src/vault/vault.js'

const asked = (content: string) => ({ role: 'user' as const, content })
const usage = { input: 100, output: 20 }

/** The answer of a test agent: one query, with the given words in its text and rows. */
export const recordOf = (question: string, answer: string, words = 'planted'): AnswerRecord => {
  const call = { id: 'call_1', tool: 'query', input: JSON.stringify({ sql: `SELECT '${words}' AS word` }) }
  return {
    question,
    history: [{ role: 'user', content: `before: ${words}` }],
    settings: { tools: [], maxOutputTokens: 1_000, params: {} },
    exchanges: [
      { new: [asked(question)], response: { text: '', toolCalls: [call], finish: 'tool_calls', usage, model: 'gpt-4o' } },
      {
        new: [{ role: 'tool', toolCallId: call.id, tool: call.tool, content: words }],
        response: { text: answer, toolCalls: [], finish: 'stop', usage, model: 'gpt-4o' },
      },
    ],
    tools: [
      { call, output: `word: ${words}`, failed: false, sql: `SELECT '${words}' AS word`, columns: ['word'], rows: [[words]], cut: false },
    ],
    answer,
  }
}

const step = (kind: AnswerStep['kind'], name: string, more: Partial<AnswerStep> = {}): AnswerStep => ({
  ...{ kind, name, outcome: 'complete', duration_ms: 5, rows: null, input_tokens: null, output_tokens: null },
  ...more,
})

/** The steps of that record. */
export const stepsOfRecord: AnswerStep[] = [
  step('model', 'gpt-4o', { input_tokens: 100, output_tokens: 20 }),
  step('sql', 'query', { rows: 1 }),
  step('model', 'gpt-4o', { input_tokens: 100, output_tokens: 20 }),
]

export type Facts = Partial<Omit<AgentAnswered, 'agent' | 'payload'>>

/** The event of an answer, without its payload. */
export const factsOf = (agent: StreamId, facts: Facts = {}): Omit<AgentAnswered, 'payload'> => ({
  ...{ agent, version: 1, answer: uuidv7(), purpose: 'completion', conversation: null, skills: [], models: [], knowledge_bases: [] },
  ...{
    provider: 'openai',
    model: 'gpt-4o',
    host: '127.0.0.1:11434',
    read_at: 1,
    steps: stepsOfRecord,
    input_tokens: 200,
    output_tokens: 40,
  },
  ...{ outcome: 'answered', error: null, first_token_ms: 12.5, duration_ms: 40 },
  ...facts,
})

export const by = (request: string, actor = 'ada'): Origin => ({ actor, source: 'rest', request, correlation: null, causation: null })

/** Records answers and evaluations in the log of a service like its agents do, without a language model. */
export class AnswerMaker {
  readonly ledger: Ledger

  /** @param key the master key of the service's vault */
  constructor(
    readonly log: Log,
    key: Uint8Array,
  ) {
    this.ledger = new Ledger(log, new Vault(key))
  }

  async answer(
    agent: StreamId,
    record: AnswerRecord,
    facts: Facts = {},
    origin = by('request'),
  ): Promise<{ answer: StreamId; position: number }> {
    const payload = await sealAnswer(this.ledger.vault, record)
    const data = { ...factsOf(agent, facts), payload: payload.hash }
    const { positions } = await this.ledger.execute({ type: 'RecordAnswer', data }, origin, { payloads: [payload] })
    return { answer: streamId.parse(data.answer), position: positions[0]! }
  }

  /** A verdict, with an optional comment. */
  async judge(
    { agent, answer, position }: { agent: StreamId; answer: StreamId; position: number },
    verdict: 'good' | 'bad',
    comment?: string,
    actor = 'ada',
  ): Promise<number> {
    const payload = comment === undefined ? undefined : sealRecord(this.ledger.vault, { comment })
    const data = { agent, answer, answered_at: position, verdict, payload: payload?.hash ?? null }
    const { positions } = await this.ledger.execute({ type: 'JudgeAnswer', data }, by('judgement', actor), {
      payloads: payload ? [payload] : [],
    })
    return positions[0]!
  }

  async evaluate(agent: StreamId, cases: readonly EvaluationCase[], facts: Partial<AgentEvaluated> = {}): Promise<number> {
    const payload = sealCases(this.ledger.vault, cases)
    const data: AgentEvaluated = {
      ...{ agent, version: 1, test: 'rerun', replayed: 'tools', model: 'gpt-4o', cases: cases.length, failed: 0 },
      ...{ metrics: [{ name: 'same_text', value: 0.5 }], input_tokens: 1, output_tokens: null, judge: null, duration_ms: 7 },
      ...facts,
      payload: payload.hash,
    }
    const { positions } = await this.ledger.execute({ type: 'RecordEvaluation', data }, by('evaluation'), { payloads: [payload] })
    return positions[0]!
  }
}
