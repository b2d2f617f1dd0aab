import type { Token } from './lexer.js'

/** Whether a token is one of these words (in capitals), whatever its own case. */
export const isWord = (token: Token | undefined, ...words: string[]): boolean => {
  if (token?.kind !== 'word') return false
  const { text } = token
  // Most words differ in their length already, and this is asked of every token many times.
  for (const word of words) if (word.length === text.length && word === text.toUpperCase()) return true
  return false
}

/** Whether a token is one of these symbols. */
export const isSymbol = (token: Token | undefined, ...symbols: string[]): boolean =>
  token?.kind === 'symbol' && symbols.includes(token.text)

/** Whether a token may be a name: a word, or anything that stands in the quotes of names. */
export const isNameLike = (token: Token | undefined): token is Token & { kind: 'backquoted' | 'quoted' | 'word' } =>
  token?.kind === 'backquoted' || token?.kind === 'quoted' || token?.kind === 'word'

/** The word of a token in capitals; empty for what is no word. */
export const upperWord = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toUpperCase() : '')

/** Where each `(` of a statement closes. It is found once for each list of tokens. */
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

/** Where the bracket closes that opens at `open`; undefined when it never does, or when no `(` stands there. */
export const closingBracket = (tokens: readonly Token[], open: number): number | undefined =>
  (closings.get(tokens) ?? readClosings(tokens)).get(open)
