import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SealedPayload, Vault } from '../../vault/vault.js'
import type { AnswerRecord, JudgementRecord } from '../contract/answer-record.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'

/** Half of a surrogate pair, which streams may cut in two, is no character: SQL would refuse the whole payload for it. */
const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value)

/**
 * Seals what was asked, read and said, for the event that names it.
 *
 * @example
 * const payload = sealRecord(ledger.vault, record)
 * await ledger.execute({ type: 'RecordAnswer', data: { …, payload: payload.hash } }, origin, { payloads: [payload] })
 * @throws Problem too_large
 */
export const sealRecord = (vault: Vault, record: AnswerRecord | JudgementRecord | readonly EvaluationCase[]): SealedPayload => {
  const bytes = Buffer.from(JSON.stringify(record, wellFormed))
  if (bytes.length > limits.payloadMaxBytes)
    throw new Problem('too_large', 'Too large', `the record of an answer has more than ${limits.payloadMaxBytes} bytes (payloadMaxBytes)`, {
      hint: 'Keep fewer rows of the tools, or ask for less at a time.',
    })
  return vault.seal(bytes)
}
