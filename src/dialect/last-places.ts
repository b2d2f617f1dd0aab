import { foldName } from '../../events/common.js'
import { Problem } from '../basics/errors.js'
import type { Token } from './lexer.js'
import { isNameLike, isSymbol, isWord } from './tokens.js'

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

/** Whether the LAST at a place stands in `COALESCE(LAST, 0)`. */
const isCalled = (tokens: readonly Token[], i: number): boolean => isSymbol(tokens[i - 1], '(') && isWord(tokens[i - 2], 'COALESCE')

/** The place of the sign before a LAST, if one is there: that of `>` in `x > LAST`. */
const signBefore = (tokens: readonly Token[], i: number): number => (isCalled(tokens, i) ? i - 3 : i - 1)

const isMark = (token: Token | undefined): boolean => marks.has(token?.text ?? '')

/**
 * The places of the tokens LAST that mean the values that a job has seen: `x > LAST`, `LAST < x`, and `x > COALESCE(LAST, 0)`. A column of
 * that name is written `t.last` or `"last"`.
 */
export const lastPlaces = (tokens: readonly Token[]): number[] =>
  tokens.flatMap((_, i) => {
    if (!isBare(tokens, i)) return []
    return isMark(tokens[signBefore(tokens, i)]) || (!isCalled(tokens, i) && turned.has(tokens[i + 1]?.text ?? '')) ? [i] : []
  })

/** The name that ends at a place, such as `t.id`; empty if none does. */
const nameUpTo = (tokens: readonly Token[], end: number): readonly Token[] => {
  if (!isNameLike(tokens[end])) return []
  let start = end
  while (isSymbol(tokens[start - 1], '.') && isNameLike(tokens[start - 2])) start -= 2
  return tokens.slice(start, end + 1)
}

/** The name that begins at a place. */
const nameAt = (tokens: readonly Token[], start: number): readonly Token[] => {
  if (!isNameLike(tokens[start])) return []
  let end = start
  while (isSymbol(tokens[end + 1], '.') && isNameLike(tokens[end + 2])) end += 2
  return tokens.slice(start, end + 1)
}

const columnOf = (tokens: readonly Token[], last: number): readonly Token[] => {
  const sign = signBefore(tokens, last)
  return isMark(tokens[sign]) ? nameUpTo(tokens, sign - 1) : nameAt(tokens, last + 2)
}

/** The tables of the query whose WHERE a place belongs to, as they are written between FROM and WHERE; empty if that is not clear. */
const tablesOf = (tokens: readonly Token[], place: number): readonly Token[] => {
  let where: number | undefined
  // What stands in brackets on the way belongs to other queries. Brackets around the place do not count: its WHERE may be outside of them.
  let depth = 0
  for (let i = place - 1; i >= 0; i--) {
    const token = tokens[i]
    if (isSymbol(token, ')')) depth += 1
    else if (isSymbol(token, '(')) depth = Math.max(0, depth - 1)
    else if (depth > 0) continue
    else if (where === undefined && isWord(token, 'WHERE')) where = i
    else if (isWord(token, 'FROM') && !isWord(tokens[i - 1], 'DISTINCT')) return tokens.slice(i + 1, where ?? i + 1)
  }
  return []
}

const wordsOf = (tokens: readonly Token[]): string[] => tokens.map((token) => (isNameLike(token) ? foldName(token.value) : token.text))

/** A statement with more LASTs than this is compared as a whole, because each of them takes a walk through it. */
const comparedMax = 20

/**
 * What a statement reads by LAST: the column of each LAST, and the tables in the FROM of its query. Two statements with equal texts read
 * the same. If this is not clear from the words, as with names from a WITH, the text is the whole statement. Undefined without LAST.
 *
 * @example readsByLast(lex('SELECT a FROM t WHERE id > LAST')) === readsByLast(lex('SELECT b FROM t WHERE id > LAST')) // true
 */
export const readsByLast = (tokens: readonly Token[]): string | undefined => {
  const places = lastPlaces(tokens)
  if (places.length === 0) return undefined
  const hasNames = tokens.some((token, i) => isWord(token, 'WITH') && !isWord(tokens[i + 1], 'TIME'))
  const reads = places.length > comparedMax || hasNames ? [] : places.map((i) => [columnOf(tokens, i), tablesOf(tokens, i)])
  const isClear = reads.length > 0 && reads.flat().every((part) => part.length > 0)
  return JSON.stringify(isClear ? reads.map((parts) => parts.map(wordsOf)) : wordsOf(tokens))
}
