import type { TokenUsage } from '../../llm/contract/language-model.js'
import type { ChatResponse } from '../contract/answer-record.js'

/** No count is known. */
export const noUsage: TokenUsage = { input: null, output: null }

/** What an exchange used; a failed one does not say. */
export const usageOf = (response: ChatResponse): TokenUsage => ('usage' in response ? response.usage : noUsage)

const added = (sum: number | null, more: number | null): number | null => (sum === null && more === null ? null : (sum ?? 0) + (more ?? 0))

/** Both together; a count is null where neither is known. @example usages.reduce(addUsage, noUsage) */
export const addUsage = (sum: TokenUsage, more: TokenUsage): TokenUsage => ({
  input: added(sum.input, more.input),
  output: added(sum.output, more.output),
})
