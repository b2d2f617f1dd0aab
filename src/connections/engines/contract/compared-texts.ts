import { Problem } from '../../../basics/errors.js'
import type { Query } from '../../contract/requests.js'
import { comparedIn } from '../../pushdown/can-push.js'

/**
 * Refuses numbers that come as text if a filter or an order compares them: the database compared them as numbers, and DuckDB would compare
 * texts.
 *
 * @param texts the columns that are numbers there, and texts here
 * @throws Problem query_failed that names the column
 */
export const refuseComparedTexts = (query: Query, texts: readonly { name: string }[]): void => {
  const { filters = [], order = [] } = 'scan' in query ? query.scan : {}
  const compared = new Set([...filters.flatMap(comparedIn), ...order.map(({ column }) => column)])
  const column = texts.find(({ name }) => compared.has(name))
  if (!column) return
  const detail = `In the column "${column.name}" numbers have more digits than can be compared`
  throw new Problem('query_failed', 'A value cannot be read', detail, {
    hint: 'Convert it there: SELECT * FROM db (SELECT …, CAST(… AS decimal(38, 10)) FROM … WHERE …).',
  })
}
