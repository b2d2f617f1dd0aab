import { jsonMembers } from '../../basics/json-text.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import { sealBytes, sealJson, wellFormed } from '../../vault/seal-json.js'
import type { SealedPayload, Vault } from '../../vault/vault.js'
import type { AnswerRecord, JudgementRecord } from '../contract/answer-record.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'

/**
 * Seals a comment on an answer, or the cases of an evaluation, as a payload for its event.
 *
 * @throws Problem too_large
 */
export const sealRecord = (vault: Vault, record: JudgementRecord | readonly EvaluationCase[]): SealedPayload =>
  sealJson(vault, record)

/** The bytes of a record, written in several turns of the event loop. */
const bytesOf = async (record: AnswerRecord): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of jsonMembers(record, wellFormed)) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

/**
 * Seals the question, the data and the answer. If the payload would be too large, it leaves out the rows of tools; their text for the
 * language model stays. It takes several turns of the event loop, and its caller begins in a new one.
 *
 * @example
 * const payload = await sealAnswer(ledger.vault, record)
 * await ledger.execute({ type: 'RecordAnswer', data: { …, payload: payload.hash } }, origin, { payloads: [payload] })
 * @throws Problem too_large when it is too large even without rows
 */
export const sealAnswer = async (vault: Vault, record: AnswerRecord): Promise<SealedPayload> => {
  let bytes = await bytesOf(record)
  if (bytes.length > limits.payloadMaxBytes) {
    const tools = record.tools.map((tool) => (tool.rows ? { ...tool, rows: [], cut: true } : tool))
    bytes = await bytesOf({ ...record, tools })
  }
  const payload = sealBytes(vault, bytes)
  await new LongWork({ goesOn: true }).pause()
  return payload
}
