import type { Json } from '../../../events/common.js'
import type { AnswerRows } from '../contract/answering.js'

const counted = (rows: readonly (readonly Json[])[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const key = JSON.stringify(row)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** Whether two lists have the same rows, equally often, in any order. */
const haveSameRows = (one: readonly (readonly Json[])[], other: readonly (readonly Json[])[]): boolean => {
  if (one.length !== other.length) return false
  const others = counted(other)
  return [...counted(one)].every(([key, count]) => others.get(key) === count)
}

/** Whether rows were left out because the record would have been too large. */
const areGone = ({ rows, cut }: AnswerRows): boolean => cut && rows.length === 0

/**
 * Whether the last queries of two answers returned the same rows, equally often, in any order. Null if that is unknown: neither has a
 * query, or the rows of one are not kept.
 */
export const sameLastRows = (one: readonly AnswerRows[], other: readonly AnswerRows[]): boolean | null => {
  const [a, b] = [one.at(-1), other.at(-1)]
  if (!a && !b) return null
  if (!a || !b) return false
  if (areGone(a) || areGone(b)) return null
  return a.cut === b.cut && haveSameRows(a.rows, b.rows)
}
