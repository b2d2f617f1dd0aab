import type { TokenUsage } from '../../llm/contract/language-model.js'
import { noUsage } from '../../llm/tokens/usage.js'
import type { ChatResponse } from '../contract/answer-record.js'

/** The tokens of an exchange; unknown for a failed one. */
export const usageOf = (response: ChatResponse): TokenUsage => ('usage' in response ? response.usage : noUsage)
