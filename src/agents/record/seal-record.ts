import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SealedPayload, Vault } from '../../vault/vault.js'
import type { AnswerRecord, JudgementRecord } from '../contract/answer-record.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'

/** A stream may cut a surrogate pair in two. Half of a pair is no character, and SQL would refuse the whole payload because of it. */
const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value)

const bytesOf = (record: unknown): Buffer => Buffer.from(JSON.stringify(record, wellFormed))

/**
 * Seals a comment on an answer, or the cases of an evaluation, as a payload for its event.
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
 * Seals the question, the data and the answer. If the payload would be too large, it leaves out the rows of tools; their text for the
 * language model stays.
 *
 * @example
 * const payload = sealAnswer(ledger.vault, record)
 * await ledger.execute({ type: 'RecordAnswer', data: { …, payload: payload.hash } }, origin, { payloads: [payload] })
 * @throws Problem too_large when it is too large even without rows
 */
export const sealAnswer = (vault: Vault, record: AnswerRecord): SealedPayload => {
  const bytes = bytesOf(record)
  if (bytes.length <= limits.payloadMaxBytes) return vault.seal(bytes)
  const tools = record.tools.map((tool) => (tool.rows ? { ...tool, rows: [], cut: true } : tool))
  return sealRecord(vault, { ...record, tools })
}
