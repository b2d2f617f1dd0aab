import type { Token } from './lexer.js'

/** Whether a token is one of these words (given in capitals), in upper or lower case. */
export const isWord = (token: Token | undefined, ...words: string[]): boolean => {
  if (token?.kind !== 'word') return false
  const { text } = token
  // Most words already differ in length. This runs many times for every token.
  for (const word of words) if (word.length === text.length && word === text.toUpperCase()) return true
  return false
}

/** Whether a token is one of these symbols. */
export const isSymbol = (token: Token | undefined, ...symbols: string[]): boolean =>
  token?.kind === 'symbol' && symbols.includes(token.text)

/** Whether a token may be a name: a word, or anything in the quotes of names. */
export const isNameLike = (token: Token | undefined): token is Token & { kind: 'backquoted' | 'quoted' | 'word' } =>
  token?.kind === 'backquoted' || token?.kind === 'quoted' || token?.kind === 'word'

/**
 * The tokens between semicolons. Semicolons inside brackets belong to an inner statement.
 *
 * @example splitTokens(lex('SELECT 1; SELECT 2')).length // 2
 */
export const splitTokens = (tokens: readonly Token[]): Token[][] => {
  const statements: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (isSymbol(token, '(')) depth += 1
    if (isSymbol(token, ')')) depth -= 1
    if (depth <= 0 && isSymbol(token, ';')) statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}

/** The word of a token in capitals; empty for a token that is no word. */
export const upperWord = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toUpperCase() : '')

/** The closing bracket of each `(` in a statement. It is computed once for each list of tokens. */
const closings = new WeakMap<readonly Token[], ReadonlyMap<number, number>>()

const readClosings = (tokens: readonly Token[]): ReadonlyMap<number, number> => {
  const found = new Map<number, number>()
  const open: number[] = []
  tokens.forEach((token, i) => {
    if (isSymbol(token, '(')) open.push(i)
    const opened = isSymbol(token, ')') ? open.pop() : undefined
    if (opened !== undefined) found.set(opened, i)
  })
  closings.set(tokens, found)
  return found
}

/** The place where the bracket at `open` closes; undefined when it never closes, or when `open` is no `(`. */
export const closingBracket = (tokens: readonly Token[], open: number): number | undefined =>
  (closings.get(tokens) ?? readClosings(tokens)).get(open)

/** The text of tokens that are one text in dollar quotes, and nothing else. @example dollarText(lex('$$SELECT 1$$')) // 'SELECT 1' */
export const dollarText = ([only, ...others]: readonly Token[]): string | undefined =>
  only?.kind === 'string' && only.text.startsWith('$') && others.length === 0 ? only.value : undefined

/** A statement for a connected database in dollar quotes: its token, its text, and the place of the text around it. */
export type QuotedStatement = { token: Token; text: string; start: number }

const isInBrackets = (tokens: readonly Token[], i: number): boolean =>
  isSymbol(tokens[i + 1], ')') && isSymbol(tokens[i - 1], '(') && isNameLike(tokens[i - 2]) && isWord(tokens[i - 3], 'FROM', 'JOIN')

/**
 * The statements in dollar quotes: behind the name of a database, or alone, as the query of a model is recorded.
 *
 * @example quotedStatements(lex('SELECT * FROM shop_db ($$SELECT 1$$)'))[0]?.text // 'SELECT 1'
 */
export const quotedStatements = (tokens: readonly Token[]): QuotedStatement[] =>
  tokens.flatMap((token, i) => {
    const text = dollarText([token])
    if (text === undefined || !(tokens.length === 1 || isInBrackets(tokens, i))) return []
    return [{ token, text, start: token.start + (token.text.length - text.length) / 2 }]
  })

/** The tokens with a word in the place of each of these statements. */
export const withoutStatements = (tokens: readonly Token[], statements: readonly QuotedStatement[]): readonly Token[] => {
  if (statements.length === 0) return tokens
  const quoted = new Set(statements.map(({ token }) => token))
  return tokens.map((token) => (quoted.has(token) ? { ...token, kind: 'word', text: 'x', value: 'x' } : token))
}
