import type { TokenUsage } from '../../llm/contract/language-model.js'
import { noUsage } from '../../llm/tokens/usage.js'
import type { ChatResponse } from '../contract/answer-record.js'

/** What an exchange used; a failed one does not say. */
export const usageOf = (response: ChatResponse): TokenUsage => ('usage' in response ? response.usage : noUsage)
