/**
 * Room: the tools that a language model may use for an agent. It imports only events, basics, catalogue, log/contract, dialect,
 * knowledge/contract, sql/contract, models, llm, agents/contract, agents/scope, agents/queries and agents/prompt.
 */

import { foldName, type Json, type JsonObject } from '../../../events/common.js'
import type { AnswerStep } from '../../../events/records/answers.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { ModelInterceptor } from '../../knowledge/contract/search.js'
import { cutText } from '../../llm/tokens/estimates.js'
import type { ToolDescription } from '../../llm/contract/language-model.js'
import type { ToolUse } from '../contract/answer-record.js'
import type { AnswerRows } from '../contract/answering.js'

/** The output of a tool: the text for the language model, the number of rows behind it, and the rows of a query. */
export type ToolResult = { output: string; rows: number | null; query?: AnswerRows }

/** The part of a use of a tool that is about its own models: their tokens, and what was said to them and by them. */
export type UseOfModels = Pick<ToolUse, 'usage' | 'exchanges'>

/**
 * The way of a tool to models of its own. `asking` stands around each use of such a model: it may refuse it, counts its tokens, and keeps
 * what is said. `onReplayed` gets that part of the record of a use that a replay repeats.
 */
export type ToolModels = { asking: ModelInterceptor; onReplayed: (use: UseOfModels) => void }

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
  /** @throws Problem whose text the language model gets */
  use: (input: JsonObject, signal: AbortSignal, models: ToolModels) => Promise<ToolResult>
}

/** The schema of an input: an object with these properties, all of which are required unless they are optional. */
export const inputSchema = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

/**
 * The texts of the first items that fit into the output of a tool, beside a number of other characters. There is always one text, cut if
 * it is too long.
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

/**
 * The model or knowledge base that a language model names: it may leave out the project, and the whole name if there is only one.
 *
 * @example itemNamed('knowledge_base', bases, ({ name }) => name, 'manuals') // the one of shop.manuals
 * @throws Problem if nothing has the name, or several have it
 */
export const itemNamed = <T>(
  member: 'model' | 'knowledge_base',
  items: readonly T[],
  nameOf: (item: T) => string,
  name: Json | undefined,
): T => {
  const [first, ...others] = items
  if (name === undefined && first !== undefined && others.length === 0) return first
  const written = typeof name === 'string' ? foldName(name) : ''
  const exact = items.filter((item) => foldName(nameOf(item)) === written)
  const meant = exact.length > 0 ? exact : items.filter((item) => foldName(nameOf(item)).endsWith(`.${written}`))
  const [found, ...alike] = meant
  if (written === '' || found === undefined)
    throw wrong(`${member}: there is no such ${member.replace('_', ' ')}`, `There are ${items.map(nameOf).join(', ')}.`)
  if (alike.length > 0) throw wrong(`${member}: several have this name`, `Write the project before it: ${meant.map(nameOf).join(', ')}.`)
  return found
}
