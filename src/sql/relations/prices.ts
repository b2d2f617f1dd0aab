import { heldAt } from './relation.js'

/** Prices above this are mistakes, and would make sums that are not finite. */
const priceMax = '1e9'

const price = (name: 'input' | 'output'): string => {
  const said = `TRY_CAST(entry.value->>'$.${name}' AS DOUBLE)`
  return `CASE WHEN ${said} BETWEEN 0 AND CAST('${priceMax}' AS DOUBLE) THEN ${said} END AS ${name}`
}

/** Each price of a million tokens, with the positions at which it was in force. A price holds for a model, or for `provider/model`. */
export const prices = `ledger_own_prices AS (
      SELECT valid_from, valid_to, entry.key AS model, ${price('input')}, ${price('output')}
      FROM (
        SELECT valid_from, valid_to, unnest(map_entries(CAST(value AS MAP(VARCHAR, JSON)))) AS entry
        FROM ledger.configs_history WHERE name = 'llm_prices' AND valid_from <= $position
      ) AS c
    )`

/** The prices of the model of a row `e` when it was recorded: its provider's own, and the one of its name alone. */
export const joinPrices = `
      LEFT JOIN ledger_own_prices AS own ON own.model = concat(e.provider, '/', e.model) AND ${heldAt('own', 'e.position')}
      LEFT JOIN ledger_own_prices AS shared ON shared.model = e.model AND ${heldAt('shared', 'e.position')}`

/** The price of the tokens of such a row; NULL if it is unknown. */
export const cost = `CASE WHEN coalesce(e.input_tokens, e.output_tokens) IS NOT NULL THEN
        (coalesce(e.input_tokens, 0) * coalesce(own.input, shared.input) + coalesce(e.output_tokens, 0) * coalesce(own.output, shared.output)) / 1000000 END`
