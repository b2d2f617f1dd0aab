/**
 * Room: the tools that a language model may use for an agent. It imports events, basics, catalogue, log/contract, dialect,
 * knowledge/contract, sql/contract, models, llm, agents/contract, agents/scope, agents/queries and agents/prompt alone.
 */

import type { JsonObject } from '../../../events/common.js'
import type { AnswerStep } from '../../../events/records/answers.js'
import { limits } from '../../basics/limits.js'
import { cutText } from '../../llm/tokens/estimates.js'
import type { TokenUsage, ToolDescription } from '../../llm/contract/language-model.js'
import type { AnswerRows } from '../contract/answering.js'

/** The output of a tool: the text for the language model, the number of rows behind it, and the rows of a query. */
export type ToolResult = { output: string; rows: number | null; query?: AnswerRows }

/** Gets the tokens of a model that a tool itself used. */
export type OnUsed = (usage: TokenUsage) => void

/** A tool of an agent. */
export type Tool = {
  kind: AnswerStep['kind']
  description: ToolDescription
  /** How often one answer may use it, if that differs from the limit of all tools. */
  maxCalls?: number
  /** How often it may fail in a row. */
  maxFailures?: number
  /** Whether an answer can be based on its output. */
  givesData: boolean
  /** `onUsed` gets tokens at once, so that the tokens of a failed use count as well. @throws Problem whose text the language model gets */
  use: (input: JsonObject, signal: AbortSignal, onUsed: OnUsed) => Promise<ToolResult>
}

/** The schema of an input: an object with these properties, all of which are required unless they are optional. */
export const inputSchema = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

/**
 * The texts of the first items that fit into the output of a tool, beside so many other characters. There is always one, cut if it is too
 * long.
 *
 * @example fittingTexts(rows, (row) => JSON.stringify(row)) // the first rows, one text each
 */
export const fittingTexts = <T>(items: readonly T[], textOf: (item: T) => string, others = 0): string[] => {
  const texts: string[] = []
  let chars = others
  for (const item of items) {
    const text = textOf(item)
    chars += text.length
    if (chars > limits.agentToolOutputMaxChars && texts.length > 0) break
    texts.push(cutText(text, limits.agentToolOutputMaxChars))
  }
  return texts
}
