import type { TokenUsage } from '../../llm/contract/language-model.js'
import { estimateTokens } from '../../llm/tokens/estimates.js'
import { noUsage } from '../../llm/tokens/token-usage.js'
import type { ChatResponse } from '../contract/answer-record.js'
import type { ExchangeResult } from './ask-model.js'

/** The tokens of an exchange; unknown for a failed one. */
export const usageOf = (response: ChatResponse): TokenUsage => ('usage' in response ? response.usage : noUsage)

/** The tokens that an exchange used: estimates where the provider reports none. @param read the estimate of its request */
export const tokensOfExchange = ({ response, isFree = false }: ExchangeResult, read: number): number => {
  if (isFree) return 0
  const { input, output } = usageOf(response)
  const written = () => estimateTokens(response.text) + estimateTokens(JSON.stringify(response.toolCalls))
  return (input ?? read) + (output ?? written())
}
