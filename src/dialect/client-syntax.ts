import { badStatement, type Token } from './lexer.js'
import { closingBracket, isSymbol, isWord, upperWord } from './tokens.js'

// Syntax of clients that DuckDB does not know: a JOIN without a condition, USING behind a query, AT before its alias, LIMIT with an offset.

const words = (text: string) => new Set(text.split(' '))
const ownCondition = words('CROSS NATURAL POSITIONAL')
const joinWords = words('LEFT RIGHT FULL INNER OUTER ASOF SEMI ANTI')
const notAnAlias = words(
  'ON USING WHERE JOIN LEFT RIGHT FULL INNER CROSS NATURAL ASOF POSITIONAL SEMI ANTI GROUP ORDER LIMIT OFFSET HAVING QUALIFY WINDOW UNION INTERSECT EXCEPT FETCH SAMPLE TABLESAMPLE AT',
)
/** Whether a token may be a part of a name, an alias or an option in the form of clients: also a number, or a text in single quotes. */
const isNamePart = (token: Token | undefined) =>
  token !== undefined && ['word', 'quoted', 'backquoted', 'number', 'string'].includes(token.kind)

/** The index of the token after the bracket that closes the one at `open`. */
const behindBrackets = (tokens: Token[], open: number): number => (closingBracket(tokens, open) ?? tokens.length - 1) + 1

const behindName = (tokens: Token[], start: number): number => {
  let i = start
  while (isNamePart(tokens[i])) {
    i++
    if (tokens[i]?.text !== '.') break
    i++
  }
  return tokens[i]?.text === '(' ? behindBrackets(tokens, i) : i
}

const behindAlias = (tokens: Token[], start: number): number => {
  let i = start
  if (upperWord(tokens[i]) === 'AS') i += 2
  else if (isNamePart(tokens[i]) && !notAnAlias.has(upperWord(tokens[i]))) i++
  else return i
  return tokens[i]?.text === '(' ? behindBrackets(tokens, i) : i
}

/** The index of the token after the table of a JOIN, including its alias and its AT. */
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

/** After `AS`, and after a dot, the word is a name. */
const isJoin = (tokens: Token[], index: number): boolean =>
  isWord(tokens[index], 'JOIN') && !hasOwnCondition(tokens, index) && !isWord(tokens[index - 1], 'AS') && !isSymbol(tokens[index - 1], '.')

/** The JOINs of one FROM: the number without a condition so far, and the places where no condition directly follows the table of a JOIN. */
type Chain = { open: number; gaps: number[] }

const startsChain = (token: Token): boolean =>
  isSymbol(token, ',') ||
  isWord(token, ...['SELECT', 'FROM', 'WHERE', 'GROUP', 'ORDER', 'HAVING', 'QUALIFY', 'WINDOW', 'LIMIT', 'UNION', 'INTERSECT', 'EXCEPT'])

/**
 * The places of ` ON TRUE` that let `t JOIN m` parse: indexes of tokens to insert it behind. A model joins every row, so it needs no
 * condition. If each JOIN has its condition, even behind a later JOIN (`a JOIN b JOIN c ON … ON …`), nothing is missing.
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

/** The tokens before a trailing `USING key = value, …`, and the tokens behind it: options of the models. */
export const splitUsing = (tokens: Token[]): { query: Token[]; options: Token[] } => {
  const using = tokens.findLastIndex((token) => upperWord(token) === 'USING')
  const isOptions = using > 0 && isNamePart(tokens[using + 1]) && tokens[using + 2]?.text === '='
  return isOptions ? { query: tokens.slice(0, using), options: tokens.slice(using + 1) } : { query: tokens, options: [] }
}

/** The index after `AT (VERSION => …)` that begins at a token, or undefined when none begins there. */
const behindAt = (tokens: Token[], at: number): number | undefined => {
  if (upperWord(tokens[at]) !== 'AT' || tokens[at + 1]?.text !== '(') return undefined
  const [unit, arrow] = [tokens[at + 2], tokens[at + 3]]
  return unit?.kind === 'word' && arrow?.text === '=>' ? behindBrackets(tokens, at + 1) : undefined
}

/**
 * DuckDB expects an alias before AT, others write it behind. This accepts both: it returns the tokens of an alias that move before its AT.
 *
 * @example aliasesBehindAt(lex('FROM t AT (VERSION => 3) AS a')) // Map { 2 => the tokens AS a, … }: they move before token 2
 */
export const aliasesBehindAt = (tokens: Token[]): Map<number, { from: number; to: number }> => {
  const moved = new Map<number, { from: number; to: number }>()
  // An alias moves as a whole. An AT inside of it has no alias of its own, so no token is written twice.
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

/** The error for an AT at which DuckDB's parser stopped, because the thing before it has no history. */
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

const isCount = (token: Token | undefined) => token?.kind === 'number' || token?.kind === 'parameter'

/**
 * MySQL's `LIMIT offset, count`, which is `OFFSET offset LIMIT count` in DuckDB: texts that replace tokens.
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
