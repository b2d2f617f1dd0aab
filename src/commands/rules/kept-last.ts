import type { JobDefinition, KeptLast } from '../../../events/job.js'
import { readsByLast } from '../../dialect/last-places.js'
import { tokensIn, type Token } from '../../dialect/lexer.js'
import { splitTokens } from '../../dialect/tokens.js'

type Texts = Pick<JobDefinition, 'query' | 'if_query'>
/** A statement, and what it reads by LAST; undefined if it has none. */
type Reading = { text: string; reads: string | undefined }

/** Most jobs have no LAST, and their texts may be long. */
const mayHaveLast = /\blast\b/i

const readingsIn = (query: string): Reading[] => {
  const textOf = (tokens: readonly Token[]): string => query.slice(tokens[0]?.start, tokens.at(-1)?.end)
  return splitTokens(tokensIn(query) ?? []).map((tokens) => ({ text: textOf(tokens), reads: readsByLast(tokens) }))
}

const conditionIn = (query: string | null): string | undefined =>
  query !== null && mayHaveLast.test(query) ? readingsIn(query)[0]?.reads : undefined

/** The number of the earlier statement that each new one goes on with. Every earlier statement is taken once, first by an equal text. */
const matched = (before: readonly Reading[], after: readonly Reading[]): (number | null)[] => {
  const kept: (number | null)[] = after.map(() => null)
  const free = new Set(before.keys())
  const take = (fits: (was: Reading, now: Reading, isSamePlace: boolean) => boolean): void => {
    for (const [place, now] of after.entries()) {
      if (kept[place] !== null || now.reads === undefined) continue
      const found = [...free].find((i) => before[i] && fits(before[i], now, i === place))
      if (found === undefined) continue
      kept[place] = found
      free.delete(found)
    }
  }
  take((was, now) => was.text === now.text)
  take((was, now, isSamePlace) => isSamePlace && was.reads === now.reads)
  take((was, now) => was.reads === now.reads)
  return kept
}

/**
 * The values of LAST that stay when a job gets other texts: those of each statement that still reads the same columns of the same tables by
 * LAST. Anything else in a statement may change. Without its value, LAST would skip the rows that came since the last run, and with the
 * value of another table it would skip or repeat rows.
 *
 * @example keptLast({ query: 'SELECT 1', if_query: null }, { query: 'SELECT 2', if_query: null }) // { condition: false, statements: [] }
 */
export const keptLast = (before: Texts, after: Texts): KeptLast => {
  const condition = conditionIn(before.if_query)
  const mayKeep = mayHaveLast.test(before.query) && mayHaveLast.test(after.query)
  return {
    condition: condition !== undefined && condition === conditionIn(after.if_query),
    statements: mayKeep ? matched(readingsIn(before.query), readingsIn(after.query)) : [],
  }
}
