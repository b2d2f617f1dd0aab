import type { Token } from './lexer.js'
import { closingBracket, isSymbol, isWord, upperWord } from './tokens.js'

const words = (text: string) => new Set(text.split(' '))
const ownCondition = words('CROSS NATURAL POSITIONAL')
const joinWords = words('LEFT RIGHT FULL INNER OUTER ASOF SEMI ANTI')
const notAnAlias = words(
  'ON USING WHERE JOIN LEFT RIGHT FULL INNER CROSS NATURAL ASOF POSITIONAL SEMI ANTI GROUP ORDER LIMIT OFFSET HAVING QUALIFY WINDOW UNION INTERSECT EXCEPT FETCH SAMPLE TABLESAMPLE AT',
)
const isName = (token: Token | undefined) =>
  token !== undefined && ['word', 'quoted', 'backquoted', 'number', 'string'].includes(token.kind)

/** The index of the token after the bracket that closes the one at `open`. */
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

/** The index of the token after the table that a JOIN names, with its alias and its AT. */
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

/** After `AS` and a dot the word is a name. */
const isJoin = (tokens: Token[], index: number): boolean =>
  isWord(tokens[index], 'JOIN') && !hasOwnCondition(tokens, index) && !isWord(tokens[index - 1], 'AS') && !isSymbol(tokens[index - 1], '.')

/** The JOINs of one FROM: how many have no condition so far, and where one could stand, for those that have none at once. */
type Chain = { open: number; gaps: number[] }

const startsChain = (token: Token): boolean =>
  isSymbol(token, ',') ||
  isWord(token, ...['SELECT', 'FROM', 'WHERE', 'GROUP', 'ORDER', 'HAVING', 'QUALIFY', 'WINDOW', 'LIMIT', 'UNION', 'INTERSECT', 'EXCEPT'])

/**
 * Where ` ON TRUE` has to stand so that `t JOIN m` parses: token indexes, to be inserted behind.
 * A model joins to every row, so nobody writes a condition for it. Where each JOIN has its condition, if only behind the next one
 * (`a JOIN b JOIN c ON … ON …`), nothing is missing.
 *
 * @example missingConditions(lex('SELECT * FROM t JOIN m WHERE a')) // Map { 5 => ' ON TRUE' }
 */
export const missingConditions = (tokens: Token[]): Map<number, string> => {
  const found = new Map<number, string>()
  let chain: Chain = { open: 0, gaps: [] }
  const around: Chain[] = []
  const end = () => {
    if (chain.open > 0) for (const gap of chain.gaps) found.set(gap, ' ON TRUE')
    chain = { open: 0, gaps: [] }
  }
  tokens.forEach((token, index) => {
    if (isSymbol(token, '(')) {
      around.push(chain)
      chain = { open: 0, gaps: [] }
    } else if (isSymbol(token, ')')) {
      end()
      chain = around.pop() ?? chain
    } else if (isJoin(tokens, index)) {
      const behind = behindTable(tokens, index + 1)
      chain.open += 1
      if (!isWord(tokens[behind], 'ON', 'USING')) chain.gaps.push(behind - 1)
    } else if (isWord(token, 'ON', 'USING')) chain.open = Math.max(0, chain.open - 1)
    else if (startsChain(token)) end()
  })
  for (let last: Chain | undefined = chain; last; last = around.pop()) {
    chain = last
    end()
  }
  return found
}

/** The tokens before a trailing `USING key = value, …`, and those behind it: options of the models. */
export const splitUsing = (tokens: Token[]): { query: Token[]; options: Token[] } => {
  const using = tokens.findLastIndex((token) => upperWord(token) === 'USING')
  const isOptions = using > 0 && isName(tokens[using + 1]) && tokens[using + 2]?.text === '='
  return isOptions ? { query: tokens.slice(0, using), options: tokens.slice(using + 1) } : { query: tokens, options: [] }
}
