import type { Token } from './lexer.js'

/** Whether a token is one of these words (in capitals), whatever its own case. */
export const isWord = (token: Token | undefined, ...words: string[]): boolean =>
  token?.kind === 'word' && words.includes(token.text.toUpperCase())

export const isSymbol = (token: Token | undefined, ...symbols: string[]): boolean =>
  token?.kind === 'symbol' && symbols.includes(token.text)

/** The word of a token in capitals; empty for what is no word. */
export const upperWord = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toUpperCase() : '')

/** Where the bracket closes that opens at `open`; undefined when it never does. */
export const closingBracket = (tokens: readonly Token[], open: number): number | undefined => {
  let depth = 0
  for (let i = open; i < tokens.length; i++) {
    if (isSymbol(tokens[i], '(')) depth += 1
    if (isSymbol(tokens[i], ')') && --depth === 0) return i
  }
  return undefined
}
