import type { ByteBudget } from '../../basics/limits/byte-budget.js'
import type { AnswerRows } from './answering.js'

const rowsIn = (queries: readonly AnswerRows[]): number => queries.reduce((sum, { rows }) => sum + rows.length, 0)

/**
 * The queries of an answer with the rows that fit: the SQL of each query comes first, then rows from the last query back, because the
 * answer rests on the last query most. `isCut` says whether rows or queries are left out.
 *
 * @example const { queries, isCut } = fittingQueries(answered.queries, new ByteBudget(65_536))
 */
export const fittingQueries = (all: readonly AnswerRows[], budget: ByteBudget): { queries: AnswerRows[]; isCut: boolean } => {
  const lastFirst = all.toReversed()
  const named = budget.first(lastFirst.map((query) => ({ ...query, rows: [] })))
  const filled = named.map((query, i): AnswerRows => {
    const { rows = [], cut = false } = lastFirst[i] ?? {}
    const fitting = budget.first(rows)
    return { ...query, rows: fitting, cut: cut || fitting.length < rows.length }
  })
  return { queries: filled.toReversed(), isCut: named.length < all.length || rowsIn(filled) < rowsIn(all) }
}
