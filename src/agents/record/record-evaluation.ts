import type { AgentEvaluated } from '../../../events/records/answers.js'
import type { Ledger } from '../../commands/ledger.js'
import type { TokenUsage } from '../../llm/contract/language-model.js'
import type { Origin } from '../../log/contract/log.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'
import { sealRecord } from './seal-record.js'

/** The fields of the event about an evaluation, without its cases. */
export type EvaluationFacts = Pick<AgentEvaluated, 'agent' | 'version' | 'test' | 'replayed' | 'model' | 'failed' | 'metrics' | 'judge'> & {
  usage: TokenUsage
  durationMs: number
}

/**
 * Records an evaluation: the event, and its cases as a payload that can be erased. Returns the position of the event.
 *
 * @throws Problem storage_failed, disk_full, busy, too_large
 */
export const recordEvaluation = async (
  ledger: Ledger,
  { usage, durationMs, ...facts }: EvaluationFacts,
  cases: readonly EvaluationCase[],
  origin: Origin,
): Promise<number> => {
  const payload = sealRecord(ledger.vault, cases)
  const data: AgentEvaluated = {
    ...facts,
    cases: cases.length,
    ...{ input_tokens: usage.input, output_tokens: usage.output },
    ...{ duration_ms: Math.round(durationMs), payload: payload.hash },
  }
  const { positions } = await ledger.execute({ type: 'RecordEvaluation', data }, origin, { payloads: [payload] })
  return positions[0] ?? 0
}
