import type { ExchangeResult } from './ask-model.js'
import type { ChatResponse, TokenUsage } from './contract/language-model.js'
import { estimateTokens } from './tokens/estimates.js'
import { noUsage } from './tokens/token-usage.js'

/** The tokens of an exchange; unknown for a failed one. */
export const usageOf = (response: ChatResponse): TokenUsage => ('usage' in response ? response.usage : noUsage)

/** The tokens that an exchange used: estimates where the provider reports none. @param read the estimate of its request */
export const tokensOfExchange = ({ response, isFree = false }: ExchangeResult, read: number): number => {
  if (isFree) return 0
  const { input, output } = usageOf(response)
  const written = () => estimateTokens((response.remarks ?? '') + response.text) + estimateTokens(JSON.stringify(response.toolCalls))
  return (input ?? read) + (output ?? written())
}
