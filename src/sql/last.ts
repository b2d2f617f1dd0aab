import { Problem } from '../errors.js'
import type { Token } from './lexer.js'

/** What the public service has these words for, where a column might stand. */
const meanings: Readonly<Record<string, string>> = {
  LAST: 'the highest value that the query gave when it ran before',
  LATEST: 'the newest row that a time series model knows',
}

const instead: Readonly<Record<string, string>> = {
  LAST: "No query is remembered here. Name what you have seen: x > (SELECT max(x) FROM files.seen); in a job, created_at > '{{PREVIOUS_START_DATETIME}}'.",
  LATEST: 'No model predicts series here. Name the row: t = (SELECT max(t) FROM …).',
}

/**
 * The refusal of LAST or LATEST where nothing has a column of that name; undefined for any other name.
 *
 * @example refuseLast('last')?.detail // 'LAST is not available: on the public service it stands for …'
 */
export const refuseLast = (name: string): Problem | undefined => {
  const word = name.toUpperCase()
  const meaning = meanings[word]
  if (meaning === undefined) return undefined
  const detail = `${word} is not available: on the public service it stands for ${meaning}, and there is no column ${name}`
  return new Problem('not_built', `${word} is not available`, detail, { hint: instead[word] ?? '' })
}

const comparisons = new Set(['>', '>='])

/** Refuses a comparison with LAST before there are tables to look for such a column in. A column is written `t.last` or `"last"`. */
export const checkLast = (tokens: readonly Token[]): void => {
  tokens.forEach(({ kind, text }, i) => {
    const isCompared = kind === 'word' && comparisons.has(tokens[i - 1]?.text ?? '') && !['.', '('].includes(tokens[i + 1]?.text ?? '')
    const refused = isCompared ? refuseLast(text) : undefined
    if (refused) throw refused
  })
}
