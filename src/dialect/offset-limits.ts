import type { Token } from './lexer.js'

const isCount = (token: Token | undefined) => token?.kind === 'number' || token?.kind === 'parameter'

/**
 * MySQL's `LIMIT offset, count`, which DuckDB writes `OFFSET offset LIMIT count`: texts to put in the place of tokens.
 *
 * @example offsetLimits(lex('SELECT 1 LIMIT 5, 10')) // Map { 2 => 'OFFSET', 4 => ' LIMIT ' }
 */
export const offsetLimits = (tokens: Token[]): Map<number, string> => {
  const found = new Map<number, string>()
  tokens.forEach(({ kind, text }, index) => {
    if (kind !== 'word' || text.toUpperCase() !== 'LIMIT') return
    const [offset, comma, count] = tokens.slice(index + 1, index + 4)
    if (isCount(offset) && comma?.text === ',' && isCount(count)) found.set(index, 'OFFSET').set(index + 2, ' LIMIT ')
  })
  return found
}
