import type { ChatMessage, ToolDescription } from '../contract/language-model.js'

const charsPerToken = 4

/** The estimated tokens of a number of characters: a quarter, because each model counts in its own way. */
export const tokensOf = (chars: number): number => Math.ceil(chars / charsPerToken)

/** The characters that have a number of estimated tokens. @example charsIn(2) // 8 */
export const charsIn = (tokens: number): number => tokens * charsPerToken

/** The estimated tokens of a text. */
export const estimateTokens = (text: string): number => tokensOf(text.length)

/** The characters that a language model reads of a message: its text, its thoughts, and the uses of tools that it names. */
export const charsOf = (message: ChatMessage): number => {
  if (message.role !== 'assistant') return message.content.length
  const { content, toolCalls = [], thoughts } = message
  const own = content.length + (thoughts ? JSON.stringify(thoughts).length : 0)
  return toolCalls.reduce((sum, { id, tool, input }) => sum + id.length + tool.length + input.length, own)
}

/** The characters of the descriptions of tools, which are part of each request; none without tools. */
export const charsOfTools = (tools: readonly ToolDescription[]): number => (tools.length === 0 ? 0 : JSON.stringify(tools).length)

/** The beginning of a text, with a mark where it was cut; whole characters only. */
export const cutText = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max).toWellFormed()} …`)
