import { v7 as uuidv7 } from 'uuid'
import type { AgentEvaluated } from '../../../events/records/answers.js'
import { retryWhileBusy } from '../../basics/concurrency/retry.js'
import type { Ledger } from '../../commands/ledger.js'
import { keyOfRecord, recordPatience } from '../../commands/record-patiently.js'
import type { TokenUsage } from '../../llm/contract/language-model.js'
import type { ErasureGuard, Log, Origin } from '../../log/contract/log.js'
import { eventAt } from '../../log/read/slices.js'
import type { AnswerPlace, EvaluationCase } from '../contract/evaluation-case.js'
import { asAnswer } from './answer-records.js'
import { sealCases } from './seal-record.js'

/** The fields of the event about an evaluation, without its cases. */
export type EvaluationFacts = Pick<
  AgentEvaluated,
  'agent' | 'version' | 'test' | 'replayed' | 'model' | 'failed' | 'metrics' | 'judge' | 'estimated_tokens'
> & { usage: TokenUsage; durationMs: number }

type ReadableLog = Pick<Log, 'readAll' | 'payloadState'>

const isErased = async (log: ReadableLog, place: AnswerPlace | null): Promise<boolean> => {
  const stored = place && (await eventAt(log, place.position))
  const answer = stored && asAnswer(stored.text)
  const state = answer && (await log.payloadState(answer.payload))
  return state?.isErased === true && state.replacedBy === null
}

/** A case with an answer that was erased since keeps its places and scores alone. */
const withoutErased = async (log: ReadableLog, one: EvaluationCase): Promise<EvaluationCase> => {
  const { of, gave, scores } = one
  if (!(await isErased(log, of)) && !(await isErased(log, gave))) return one
  return { question: '', expected: null, answer: '', of, gave, scores }
}

/** `beside` runs work during which no answers are erased. */
type Recording = { ledger: Ledger; log: ReadableLog; beside: ErasureGuard; isStopping?: () => boolean }

/**
 * Records an evaluation: the event, and its cases as a payload that can be erased. No text of an answer that was erased meanwhile is
 * recorded. While the log is away for a moment, or another node erases something, it tries again. Returns the position of the event.
 *
 * @throws Problem storage_failed, disk_full, busy
 */
export const recordEvaluation = (
  { ledger, log, beside, isStopping = () => false }: Recording,
  { usage, durationMs, ...facts }: EvaluationFacts,
  cases: readonly EvaluationCase[],
  origin: Origin,
): Promise<number> => {
  const key = keyOfRecord('evaluation', uuidv7())
  const write = async (guarded: Origin): Promise<number> => {
    const kept: EvaluationCase[] = []
    for (const one of cases) kept.push(await withoutErased(log, one))
    const payload = sealCases(ledger.vault, kept)
    const data: AgentEvaluated = {
      ...facts,
      cases: kept.length,
      ...{ input_tokens: usage.input, output_tokens: usage.output },
      ...{ duration_ms: Math.round(durationMs), payload: payload.hash },
    }
    const { positions } = await ledger.execute({ type: 'RecordEvaluation', data }, guarded, { payloads: [payload], ...key })
    return positions[0] ?? 0
  }
  return retryWhileBusy(() => beside(origin, write), recordPatience(isStopping))
}
