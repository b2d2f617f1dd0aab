import { jsonMembers } from '../../basics/json-text.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import { cutText } from '../../llm/tokens/estimates.js'
import { sealBytes, sealJson, wellFormed } from '../../vault/seal-json.js'
import type { SealedPayload, Vault } from '../../vault/vault.js'
import type { AnswerRecord, JudgementRecord, ToolUse } from '../contract/answer-record.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'

/**
 * Seals a comment on an answer as a payload for its event.
 *
 * @throws Problem too_large
 */
export const sealRecord = (vault: Vault, record: JudgementRecord): SealedPayload => sealJson(vault, record)

/** The lengths to which texts are cut, one after the other, until a record is small enough. */
const cutLengths = [16_000, 1_000] as const

/** A copy of a value whose longer texts are cut. */
const cutTexts = <T>(value: T, most: number): T =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? cutText(part, most) : part))) as T

/** The characters of all texts in a value. */
const textLength = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, part) => sum + textLength(part), 0) : 0
}

/** The forms of cases: whole, and then with shorter and shorter texts. The whole texts of their answers are in the records of these. */
function* formsOfCases(cases: readonly EvaluationCase[]): Generator<readonly EvaluationCase[], void> {
  // A text of all of them may be longer than a text can be.
  if (textLength(cases) <= limits.payloadMaxBytes) yield cases
  for (const most of cutLengths) yield cases.map((one) => ({ ...cutTexts(one, most), cut: true as const }))
}

/**
 * Seals the cases of an evaluation as a payload for its event. If it would be too large, their longest texts are cut: what was answered and
 * judged must not be lost because of a judge that says too much.
 *
 * @throws Problem too_large for more cases than an evaluation has
 */
export const sealCases = (vault: Vault, cases: readonly EvaluationCase[]): SealedPayload => {
  let bytes: Buffer = Buffer.alloc(0)
  for (const form of formsOfCases(cases)) {
    bytes = Buffer.from(JSON.stringify(form, wellFormed))
    if (bytes.length <= limits.payloadMaxBytes) break
  }
  return sealBytes(vault, bytes)
}

/** The bytes of a record, written in several turns of the event loop. */
const bytesOf = async (record: AnswerRecord): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of jsonMembers(record, wellFormed)) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

const withoutRows = (tool: ToolUse): ToolUse => (tool.rows ? { ...tool, rows: [], cut: true } : tool)

const withShortExchanges = (tool: ToolUse): ToolUse =>
  tool.exchanges ? { ...tool, exchanges: cutTexts(tool.exchanges, cutLengths[0]) } : tool

/**
 * The forms of the record of an answer: whole; without the rows of tools, whose text for the language model stays; with less of what was
 * said to reranking models, and by them; and then with shorter and shorter texts beside the question and the answer.
 */
function* formsOf(record: AnswerRecord): Generator<AnswerRecord, void> {
  yield record
  let tools = record.tools.map(withoutRows)
  yield { ...record, tools }
  if (tools.some(({ exchanges }) => exchanges)) {
    tools = tools.map(withShortExchanges)
    yield { ...record, tools, cut: true }
  }
  const { history, exchanges } = record
  for (const most of cutLengths) yield { ...record, ...cutTexts({ history, exchanges, tools }, most), cut: true }
}

/**
 * Seals the question, the data and the answer. If the payload would be too large, it has less of them: an answer whose reader got the text
 * must not be without a record. It takes several turns of the event loop, and its caller begins in a new one.
 *
 * @example
 * const payload = await sealAnswer(ledger.vault, record)
 * await ledger.execute({ type: 'RecordAnswer', data: { …, payload: payload.hash } }, origin, { payloads: [payload] })
 * @throws Problem too_large when the question and the answer alone are too large
 */
export const sealAnswer = async (vault: Vault, record: AnswerRecord): Promise<SealedPayload> => {
  let bytes: Buffer = Buffer.alloc(0)
  for (const form of formsOf(record)) {
    bytes = await bytesOf(form)
    if (bytes.length <= limits.payloadMaxBytes) break
  }
  const payload = sealBytes(vault, bytes)
  await new LongWork({ goesOn: true }).pause()
  return payload
}
