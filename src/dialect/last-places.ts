import { Problem } from '../basics/errors.js'
import type { Token } from './lexer.js'

/** The reason why LAST is refused. LAST is in the place of a column. */
const last = (name: string): Problem =>
  new Problem(
    'not_built',
    'LAST is not available',
    `LAST is not available: it stands for the highest value that a job has seen, this is no query of a job, and there is no column ${name}`,
    { hint: 'CREATE JOB j (SELECT * FROM db.t WHERE t.x > LAST) EVERY hour; elsewhere name it: x > (SELECT max(x) FROM files.seen).' },
  )

/** LATEST has a meaning in one place only (`models/latest.ts`). */
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
 * The refusal of LAST or LATEST if no column has that name; undefined for any other name.
 *
 * @example refuseLast('last')?.detail // 'LAST is not available: it stands for …'
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

const marks = new Set(['>', '>='])
const turned = new Set(['<', '<='])

const isBare = (tokens: readonly Token[], i: number): boolean =>
  tokens[i]?.kind === 'word' &&
  tokens[i].text.toUpperCase() === 'LAST' &&
  tokens[i - 1]?.text !== '.' &&
  !['.', '('].includes(tokens[i + 1]?.text ?? '')

/**
 * The places of the tokens LAST that mean the values that a job has seen: `x > LAST`, `LAST < x`, and `x > COALESCE(LAST, 0)`. A column of
 * that name is written `t.last` or `"last"`.
 */
export const lastPlaces = (tokens: readonly Token[]): number[] =>
  tokens.flatMap((_, i) => {
    if (!isBare(tokens, i)) return []
    const isCalled = tokens[i - 1]?.text === '(' && tokens[i - 2]?.text.toUpperCase() === 'COALESCE'
    const before = tokens[isCalled ? i - 3 : i - 1]?.text ?? ''
    return marks.has(before) || (!isCalled && turned.has(tokens[i + 1]?.text ?? '')) ? [i] : []
  })
