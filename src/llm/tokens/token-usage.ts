/**
 * Room: counts of used tokens, and limits per day. It imports only events, basics, log, knowledge/contract and llm/contract.
 */

import type { TokenUsage } from '../contract/language-model.js'

/** No count is known. */
export const noUsage: TokenUsage = { input: null, output: null }

const added = (sum: number | null, more: number | null): number | null => (sum === null && more === null ? null : (sum ?? 0) + (more ?? 0))

/** The sum of both; a count is null if neither is known. @example usages.reduce(addUsage, noUsage) */
export const addUsage = (sum: TokenUsage, more: TokenUsage): TokenUsage => ({
  input: added(sum.input, more.input),
  output: added(sum.output, more.output),
})

/** The tokens of a usage. Unknown numbers count as 0. */
export const tokensUsed = ({ input, output }: TokenUsage): number => (input ?? 0) + (output ?? 0)
