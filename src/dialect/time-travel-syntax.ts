import { behindAlias, behindBrackets } from './join-conditions.js'
import { badStatement, type Token } from './lexer.js'
import { upperWord } from './tokens.js'

/** The index behind `AT (VERSION => …)` that begins at a token, or undefined when none does. */
const behindAt = (tokens: Token[], at: number): number | undefined => {
  if (upperWord(tokens[at]) !== 'AT' || tokens[at + 1]?.text !== '(') return undefined
  const [unit, arrow] = [tokens[at + 2], tokens[at + 3]]
  return unit?.kind === 'word' && arrow?.text === '=>' ? behindBrackets(tokens, at + 1) : undefined
}

/**
 * DuckDB takes an alias before AT, others take it behind. Here both are taken: the tokens of an alias that move before its AT.
 *
 * @example aliasesBehindAt(lex('FROM t AT (VERSION => 3) AS a')) // Map { 2 => the tokens AS a, … }: they move before token 2
 */
export const aliasesBehindAt = (tokens: Token[]): Map<number, { from: number; to: number }> => {
  const moved = new Map<number, { from: number; to: number }>()
  // An alias moves as a whole. An AT inside of it has no alias of its own, so that no token is written twice.
  const moves = new Uint8Array(tokens.length)
  for (let index = 0; index < tokens.length; index++) {
    const from = moves[index] === 1 ? undefined : behindAt(tokens, index)
    const to = from === undefined ? undefined : behindAlias(tokens, from)
    if (from === undefined || to === undefined || to <= from) continue
    moved.set(index, { from, to })
    moves.fill(1, from, to)
  }
  return moved
}

/** The error for an AT at which DuckDB's parser stopped, because it stands behind something that has no past of its own. */
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
