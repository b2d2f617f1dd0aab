import type { Query } from '../../contract/requests.js'
import { numbersCompared } from '../../contract/number-texts.js'
import type { AnswerColumn } from '../../contract/types.js'
import { comparedIn } from '../../pushdown/can-push.js'

/**
 * Refuses numbers that come as text if a filter or an order compares them: the database compared them as numbers, and DuckDB would compare
 * texts.
 *
 * @throws Problem query_failed that names the column
 */
export const refuseComparedTexts = (query: Query, columns: readonly AnswerColumn[]): void => {
  const { filters = [], order = [] } = 'scan' in query ? query.scan : {}
  const compared = new Set([...filters.flatMap(comparedIn), ...order.map(({ column }) => column)])
  const column = columns.find(({ name, numbers }) => numbers !== undefined && compared.has(name))
  if (column) throw numbersCompared(column.name)
}
