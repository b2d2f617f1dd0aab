import type { Token } from './lexer.js'
import { closingBracket, upperWord } from './tokens.js'

const words = (text: string) => new Set(text.split(' '))
const ownCondition = words('CROSS NATURAL POSITIONAL')
const joinWords = words('LEFT RIGHT FULL INNER OUTER ASOF SEMI ANTI')
const notAnAlias = words(
  'ON USING WHERE JOIN LEFT RIGHT FULL INNER CROSS NATURAL ASOF POSITIONAL SEMI ANTI GROUP ORDER LIMIT OFFSET HAVING QUALIFY WINDOW UNION INTERSECT EXCEPT FETCH SAMPLE TABLESAMPLE AT',
)
const isName = (token: Token | undefined) =>
  token !== undefined && ['word', 'quoted', 'backquoted', 'number', 'string'].includes(token.kind)

/** The index behind the bracket that closes the one at `open`. */
export const behindBrackets = (tokens: Token[], open: number): number => (closingBracket(tokens, open) ?? tokens.length - 1) + 1

const behindName = (tokens: Token[], start: number): number => {
  let i = start
  while (isName(tokens[i])) {
    i++
    if (tokens[i]?.text !== '.') break
    i++
  }
  return tokens[i]?.text === '(' ? behindBrackets(tokens, i) : i
}

export const behindAlias = (tokens: Token[], start: number): number => {
  let i = start
  if (upperWord(tokens[i]) === 'AS') i += 2
  else if (isName(tokens[i]) && !notAnAlias.has(upperWord(tokens[i]))) i++
  else return i
  return tokens[i]?.text === '(' ? behindBrackets(tokens, i) : i
}

/** The index behind the table that a JOIN names, with its alias and its AT. */
const behindTable = (tokens: Token[], start: number): number => {
  const lateral = upperWord(tokens[start]) === 'LATERAL' ? start + 1 : start
  const named = tokens[lateral]?.text === '(' ? behindBrackets(tokens, lateral) : behindName(tokens, lateral)
  const i = behindAlias(tokens, named)
  if (upperWord(tokens[i]) !== 'AT' || tokens[i + 1]?.text !== '(') return i
  return behindAlias(tokens, behindBrackets(tokens, i + 1))
}

const hasOwnCondition = (tokens: Token[], join: number): boolean => {
  let i = join - 1
  while (joinWords.has(upperWord(tokens[i]))) i--
  return ownCondition.has(upperWord(tokens[i]))
}

/**
 * Where ` ON TRUE` has to stand so that `t JOIN m` parses: token indexes, to be inserted behind.
 * A model joins to every row, so nobody writes a condition for it.
 *
 * @example missingConditions(lex('SELECT * FROM t JOIN m WHERE a')) // Map { 5 => ' ON TRUE' }
 */
export const missingConditions = (tokens: Token[]): Map<number, string> => {
  const found = new Map<number, string>()
  tokens.forEach((token, index) => {
    if (upperWord(token) !== 'JOIN' || hasOwnCondition(tokens, index)) return
    const end = behindTable(tokens, index + 1)
    const next = upperWord(tokens[end])
    if (next !== 'ON' && next !== 'USING') found.set(end - 1, ' ON TRUE')
  })
  return found
}

/** The tokens before a trailing `USING key = value, …`, and those behind it: options of the models. */
export const splitUsing = (tokens: Token[]): { query: Token[]; options: Token[] } => {
  const using = tokens.findLastIndex((token) => upperWord(token) === 'USING')
  const isOptions = using > 0 && isName(tokens[using + 1]) && tokens[using + 2]?.text === '='
  return isOptions ? { query: tokens.slice(0, using), options: tokens.slice(using + 1) } : { query: tokens, options: [] }
}
