/**
 * Room: what a language model may do for an agent. It imports events, basics, log/contract, dialect, knowledge/contract, sql/contract, models,
 * llm, agents/contract, agents/scope, agents/queries and agents/prompt alone.
 */

import type { JsonObject } from '../../../events/common.js'
import type { AnswerStep } from '../../../events/records/answers.js'
import type { TokenUsage, ToolDescription } from '../../llm/contract/language-model.js'
import type { AnswerRows } from '../contract/answering.js'

/** What a use of a tool gave: the text that the language model is told, how many rows it rests on, and the rows of a query. */
export type ToolResult = { output: string; rows: number | null; query?: AnswerRows }

/** Is told the tokens of a model that a tool asked itself. */
export type OnUsed = (usage: TokenUsage) => void

/** A tool of an agent. */
export type Tool = {
  kind: AnswerStep['kind']
  description: ToolDescription
  /** How often it may be used for one answer, where that is not how often any tool may. */
  maxCalls?: number
  /** How often it may fail in a row. */
  maxFailures?: number
  /** Whether what it gives is what an answer can rest on. */
  givesData: boolean
  /** `onUsed` is told of tokens as they are used, so that those of a use that fails count, too. @throws Problem that the language model is told */
  use: (input: JsonObject, signal: AbortSignal, onUsed: OnUsed) => Promise<ToolResult>
}

/** The schema of an input: an object with these properties, all of which are required unless they are optional. */
export const inputSchema = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})
