import { behindAlias, behindBrackets } from './join-conditions.js'
import { badStatement, type Token } from './lexer.js'

/** The index behind `AT (VERSION => …)` that begins at a token, or undefined when none does. */
const behindAt = (tokens: Token[], at: number): number | undefined => {
  const [word, open, unit, arrow] = tokens.slice(at, at + 4)
  if (word?.kind !== 'word' || word.text.toUpperCase() !== 'AT' || open?.text !== '(') return undefined
  return unit?.kind === 'word' && arrow?.text === '=>' ? behindBrackets(tokens, at + 1) : undefined
}

/**
 * DuckDB takes the alias before AT, others take it behind: here both do. Which tokens stand where another one is written.
 *
 * @example aliasesBehindAt(lex('FROM t AT (VERSION => 3) AS a')) // Map { 2 => the tokens AS a, … }: they move before token 2
 */
export const aliasesBehindAt = (tokens: Token[]): Map<number, { from: number; to: number }> => {
  const moved = new Map<number, { from: number; to: number }>()
  tokens.forEach((_, index) => {
    const from = behindAt(tokens, index)
    const to = from === undefined ? undefined : behindAlias(tokens, from)
    if (from !== undefined && to !== undefined && to > from) moved.set(index, { from, to })
  })
  return moved
}

/** What is wrong with an AT that DuckDB's parser stopped at: it stands behind something that has no past of its own. */
export const misplacedAt = (sql: string, tokens: Token[], offset: number): Error | undefined => {
  const index = tokens.findIndex(({ start, end }) => start <= offset && offset < end)
  const before = tokens.slice(0, index).findLast(({ text }) => text === ')' || text === '(')
  if (index < 1 || behindAt(tokens, index) === undefined || before?.text !== ')') return undefined
  return badStatement(
    sql,
    offset,
    'AT needs the name of a table: a subquery, a list of VALUES and a table function have no past of their own',
    'Write AT behind the tables inside it.',
  )
}
