import { LRUCache } from 'lru-cache'
import { limits } from '../basics/limits.js'
import { freeOrder, type Refusals } from './contract/wire.js'
import { callErrorOf, isAboutLimit, saidIn } from './failures.js'
import type { ModelSettings } from './settings.js'

const parameter = /\b(max_tokens|max_completion_tokens|temperature|stream_options|reasoning_content|reasoning_details)\b/
const refusal = /unsupported|not support(?:ed)?\b|unrecognized|unknown|unexpected|not permitted|not allowed|deprecated/i

const order = /unexpected role|roles? must alternate/i

/** The providers whose models refuse something from the start. */
const refusedFromStart: Readonly<Record<string, Refusals>> = { mistral: new Set([freeOrder]) }

const tooLarge = /too (?:large|big|high)|at most|less than|exceed|maximum|range/i

/** The words of an answer that refuses a request for its content; undefined for any other answer. */
const refusalIn = (error: unknown): string | undefined => {
  const call = callErrorOf(error)
  return call?.status === 400 || call?.status === 422 ? (saidIn(call.body) ?? String(call.body)) : undefined
}

/** Whether an answer refuses the limit of tokens as too large: for the model, or beside the prompt. */
export const refusesLimit = (error: unknown): boolean => {
  const said = refusalIn(error)
  return said !== undefined && isAboutLimit(said) && tooLarge.test(said)
}

/** Whether an answer refuses the order of the messages. Some servers answer so with 500, and some with the words of another server inside. */
const refusesOrder = (error: unknown): boolean => {
  const call = callErrorOf(error)
  return (call?.status === 400 || call?.status === 422 || call?.status === 500) && order.test(String(call.body))
}

/** What an answer refuses as such, a parameter whatever its value, or the order of the messages; undefined for any other answer. */
const refusedIn = (error: unknown): string | undefined => {
  if (refusesOrder(error)) return freeOrder
  const said = refusalIn(error)
  return said !== undefined && refusal.test(said) ? parameter.exec(said)?.[1] : undefined
}

/**
 * What models refuse, remembered: some newer models take no temperature, some servers no question for the usage, and some not every order
 * of messages. A request goes without it.
 */
export class RememberedRefusals {
  readonly #known = new LRUCache<string, Refusals>({ max: limits.llmRememberedMax })

  /** What a model at its address has refused before. */
  of({ address, model, provider }: ModelSettings): Refusals {
    return this.#known.get(`${address} ${model}`) ?? refusedFromStart[provider] ?? new Set()
  }

  /** Whether an answer refuses what its request was not `without`: then the request may be sent again. */
  learns(settings: ModelSettings, error: unknown, without: Refusals): boolean {
    const refused = settings.wire === 'openai' ? refusedIn(error) : undefined
    if (refused === undefined || without.has(refused)) return false
    this.#known.set(`${settings.address} ${settings.model}`, new Set([...this.of(settings), refused]))
    return true
  }
}
