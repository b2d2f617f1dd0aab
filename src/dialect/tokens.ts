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

/** A statement in dollar quotes: its token, its text, and the place of the text in the statement around it. */
export type QuotedStatement = { token: Token; text: string; start: number }

/**
 * The texts in dollar quotes that stand alone, as in `FROM shop_db ($$SELECT 1$$)`: they may be statements of a connected database.
 *
 * @example quotedStatements(lex('SELECT * FROM shop_db ($$SELECT 1$$)'))[0]?.text // 'SELECT 1'
 */
export const quotedStatements = (tokens: readonly Token[]): QuotedStatement[] =>
  tokens.flatMap((token, i) => {
    const isAlone = token.kind === 'string' && token.text.startsWith('$') && [undefined, '('].includes(tokens[i - 1]?.text)
    if (!isAlone || ![undefined, ')'].includes(tokens[i + 1]?.text)) return []
    const { value: text } = token
    return [{ token, text, start: token.start + (token.text.length - text.length) / 2 }]
  })
