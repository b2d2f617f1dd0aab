import { limits } from '../../basics/limits.js'
import type { ChatRequest } from '../../llm/contract/language-model.js'
import type { ReservedTokens } from '../../llm/tokens/daily-token-quotas.js'

type OwnLimit = Pick<ChatRequest, 'maxOutputTokens'>

/** The tokens without which a language model is not asked: with fewer it could not say anything useful. */
export const leastOutput = ({ maxOutputTokens = Infinity }: OwnLimit): number => Math.min(maxOutputTokens, limits.agentOutputMinTokens)

/** The tokens that are reserved for what a language model writes. @param left the tokens that the answer has left */
export const usualOutput = (request: OwnLimit, left = Infinity): number =>
  Math.max(leastOutput(request), Math.min(request.maxOutputTokens ?? limits.agentOutputMaxTokens, left))

/**
 * The limit of output tokens that a request has. There is none if the agent has none and the answer and the day have many tokens left.
 * Otherwise the limit is the number of tokens that are reserved for the output.
 *
 * @param read the tokens of the request itself
 */
export const outputLimit = (request: OwnLimit, read: number, left: number, reserved: ReservedTokens): OwnLimit =>
  request.maxOutputTokens === undefined && Math.min(left, reserved.left - read) >= limits.agentOutputUnboundTokens
    ? {}
    : { maxOutputTokens: Math.floor(reserved.tokens - read) }
