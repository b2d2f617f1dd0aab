import { Problem } from '../../basics/errors.js'

/**
 * The refusal of a column of numbers that come as text where its values would be compared: texts have another order.
 *
 * @param written the column as a statement here names it, if it can be converted there
 */
export const numbersCompared = (column: string, written?: string): Problem => {
  const there = 'SELECT * FROM db (SELECT …, CAST(… AS decimal(38, 10)) FROM … WHERE …).'
  const here =
    written === undefined ? '' : `Write CAST(${written} AS DOUBLE), or AS DOUBLE[] for a list, for rounded numbers, or convert it there: `
  return new Problem('query_failed', 'A value cannot be read', `In the column "${column}" numbers have more digits than can be compared`, {
    hint: `${here || 'Convert it there: '}${there}`,
  })
}
