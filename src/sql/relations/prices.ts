import { heldAt } from './relation.js'

/** Prices above this are mistakes. They would also make sums that are not finite. */
const priceMax = '1e9'

const price = (name: 'input' | 'output'): string => {
  const said = `TRY_CAST(entry.value->>'$.${name}' AS DOUBLE)`
  return `CASE WHEN ${said} BETWEEN 0 AND CAST('${priceMax}' AS DOUBLE) THEN ${said} END AS ${name}`
}

/** Each price of a million tokens, with the positions between which it was valid. A price is for a model, or for `provider/model`. */
export const prices = `ledger_own_prices AS (
      SELECT valid_from, valid_to, entry.key AS model, ${price('input')}, ${price('output')}
      FROM (
        SELECT valid_from, valid_to, unnest(map_entries(CAST(value AS MAP(VARCHAR, JSON)))) AS entry
        FROM ledger.configs_history WHERE name = 'llm_prices' AND valid_from <= $position
      ) AS c
    )`

/** The prices of the model of a row `e` at the time of its recording: the price of its provider, and the price of its name alone. */
export const joinPrices = `
      LEFT JOIN ledger_own_prices AS own ON own.model = concat(e.provider, '/', e.model) AND ${heldAt('own', 'e.position')}
      LEFT JOIN ledger_own_prices AS shared ON shared.model = e.model AND ${heldAt('shared', 'e.position')}`

/** The price of the tokens of such a row; NULL if it is unknown. */
export const cost = `CASE WHEN coalesce(e.input_tokens, e.output_tokens) IS NOT NULL THEN
        (coalesce(e.input_tokens, 0) * coalesce(own.input, shared.input) + coalesce(e.output_tokens, 0) * coalesce(own.output, shared.output)) / 1000000 END`
