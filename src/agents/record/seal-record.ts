import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SealedPayload, Vault } from '../../vault/vault.js'
import type { AnswerRecord, JudgementRecord } from '../contract/answer-record.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'

/** Half of a surrogate pair, which streams may cut in two, is no character: SQL would refuse the whole payload for it. */
const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value)

const bytesOf = (record: unknown): Buffer => Buffer.from(JSON.stringify(record, wellFormed))

/**
 * Seals what was said beside an answer, or the cases of an evaluation, for the event that names it.
 *
 * @throws Problem too_large
 */
export const sealRecord = (vault: Vault, record: AnswerRecord | JudgementRecord | readonly EvaluationCase[]): SealedPayload => {
  const bytes = bytesOf(record)
  if (bytes.length > limits.payloadMaxBytes)
    throw new Problem('too_large', 'Too large', `the record has more than ${limits.payloadMaxBytes} bytes (payloadMaxBytes)`, {
      hint: 'Ask for less at a time.',
    })
  return vault.seal(bytes)
}

/**
 * Seals what was asked, read and said. The rows of tools give way where it would be too large: the language model was told their text,
 * which stays.
 *
 * @example
 * const payload = sealAnswer(ledger.vault, record)
 * await ledger.execute({ type: 'RecordAnswer', data: { …, payload: payload.hash } }, origin, { payloads: [payload] })
 * @throws Problem too_large when it is too large without any rows
 */
export const sealAnswer = (vault: Vault, record: AnswerRecord): SealedPayload => {
  const bytes = bytesOf(record)
  if (bytes.length <= limits.payloadMaxBytes) return vault.seal(bytes)
  const tools = record.tools.map((tool) => (tool.rows ? { ...tool, rows: [], cut: true } : tool))
  return sealRecord(vault, { ...record, tools })
}
