import { Problem } from '../basics/errors.js'
import type { Token } from './lexer.js'

/** Why LAST is refused. On the public service it stands in the place of a column. */
const last = (name: string): Problem =>
  new Problem(
    'not_built',
    'LAST is not available',
    `LAST is not available: on the public service it stands for the highest value that the query gave when it ran before, and there is no column ${name}`,
    {
      hint: "No query is remembered here. Name what you have seen: x > (SELECT max(x) FROM files.seen); in a job, created_at > '{{PREVIOUS_START_DATETIME}}'.",
    },
  )

/** LATEST has its meaning in one place only (`models/latest.ts`). */
const latest = (name: string): Problem =>
  new Problem(
    'bad_statement',
    'LATEST needs a model of series',
    `LATEST is the last date that a model of series knows, and there is no column ${name}`,
    {
      hint: 'Write SELECT … FROM db.t AS t JOIN model AS m WHERE t.date > LATEST, with a model that was made with ORDER BY and the column that orders it.',
    },
  )

/**
 * The refusal of LAST or LATEST where nothing has a column of that name; undefined for any other name.
 *
 * @example refuseLast('last')?.detail // 'LAST is not available: on the public service it stands for …'
 */
export const refuseLast = (name: string): Problem | undefined => {
  switch (name.toUpperCase()) {
    case 'LAST':
      return last(name)
    case 'LATEST':
      return latest(name)
    default:
      return undefined
  }
}

const comparisons = new Set(['>', '>='])

/** Refuses a comparison with LAST before the tables are known, in which a column may have that name. A column is written `t.last` or `"last"`. */
export const checkLast = (tokens: readonly Token[]): void => {
  tokens.forEach(({ kind, text }, i) => {
    const isCompared = kind === 'word' && comparisons.has(tokens[i - 1]?.text ?? '') && !['.', '('].includes(tokens[i + 1]?.text ?? '')
    if (isCompared && text.toUpperCase() === 'LAST') throw last(text)
  })
}
