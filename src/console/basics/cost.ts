import { select } from '../api/sql.js'

/**
 * The cost of an answer's tokens, at the prices that were set when it was recorded; undefined if no price is known.
 *
 * @param id the answer's id
 * @example await loadCost('01a217d3-e86f-7997-8b30-ec8ae24ca12a', signal) // 0.00285
 * @throws ApiError
 */
export const loadCost = async (id: string, signal: AbortSignal): Promise<number | undefined> => {
  const [answer] = await select<{ cost: number | null }>({
    query: 'SELECT cost FROM log.answers WHERE answer_id = :id',
    params: { id },
    signal,
  })
  return answer?.cost ?? undefined
}

/** @example costText(0.00285) // '0.00285' */
export const costText = (cost: number): string => String(Number(cost.toPrecision(3)))
