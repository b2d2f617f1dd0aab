import { json } from '../api/request.js'
import { select, type Value } from '../api/sql.js'

type Used = { position: number; provider: string; model: string; input_tokens: number | null; output_tokens: number | null } & Record<
  string,
  Value
>

type Prices = Record<string, { input: number; output: number }>

const tokensOfPrice = 1_000_000

/**
 * What the tokens of an answer cost, at the prices that were set when it was recorded; undefined where no price is known.
 *
 * @param id of the answer
 * @example await loadCost('01a217d3-e86f-7997-8b30-ec8ae24ca12a', signal) // 0.00285
 * @throws ApiError
 */
export const loadCost = async (id: string, signal: AbortSignal): Promise<number | undefined> => {
  const [used] = await select<Used>({
    query: 'SELECT position, provider, model, input_tokens, output_tokens FROM log.answers WHERE answer_id = :id',
    params: { id },
    signal,
  })
  if (!used || (used.input_tokens === null && used.output_tokens === null)) return undefined
  const { llm_prices: prices } = await json<{ llm_prices: Prices }>('config', { at: String(used.position), signal })
  const price = prices[`${used.provider}/${used.model}`] ?? prices[used.model]
  return price && ((used.input_tokens ?? 0) * price.input + (used.output_tokens ?? 0) * price.output) / tokensOfPrice
}

/** @example costText(0.00285) // '0.00285' */
export const costText = (cost: number): string => String(Number(cost.toPrecision(3)))
