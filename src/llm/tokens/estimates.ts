import type { ChatMessage } from '../contract/language-model.js'

const charsPerToken = 4

/** The estimated tokens of a number of characters: a quarter, because each model counts in its own way. */
export const tokensOf = (chars: number): number => Math.ceil(chars / charsPerToken)

/** The estimated tokens of a text. */
export const estimateTokens = (text: string): number => tokensOf(text.length)

/** The characters that a language model reads of a message: its text, and the uses of tools that it names. */
export const charsOf = (message: ChatMessage): number => {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return calls.reduce((sum, { id, tool, input }) => sum + id.length + tool.length + input.length, message.content.length)
}

/** The beginning of a text, with a mark where it was cut; whole characters only. */
export const cutText = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max).toWellFormed()} …`)
