const any = Symbol('any')
const many = Symbol('many')
type Piece = string | typeof any | typeof many

/** Reads a pattern as a list of places: each takes one character, any character, or any number of them. */
const piecesOf = (pattern: string): Piece[] => {
  const pieces: Piece[] = []
  const characters = Array.from(pattern.toLowerCase())
  for (let i = 0; i < characters.length; i++) {
    const here = characters[i] ?? ''
    if (here === '\\' && i + 1 < characters.length) pieces.push(characters[++i] ?? '')
    else if (here !== '%' || pieces.at(-1) !== many) pieces.push(here === '%' ? many : here === '_' ? any : here)
  }
  return pieces
}

/**
 * MySQL's LIKE without regard to case: `%` is any text, `_` any character, and a backslash lets the next character mean itself. The pattern
 * is read once for all texts. The search only goes back to the last `%`, so no pattern takes more than length times length steps.
 *
 * @example likePattern('version%')('version_comment') // true
 */
export const likePattern = (pattern: string): ((text: string) => boolean) => {
  const pieces = piecesOf(pattern)
  return (text) => matches(Array.from(text.toLowerCase()), pieces)
}

const matches = (characters: readonly string[], pieces: readonly Piece[]): boolean => {
  let piece = 0
  let at = 0
  let afterMany = -1
  let retry = 0
  while (at < characters.length) {
    if (pieces[piece] === many) {
      afterMany = ++piece
      retry = at
    } else if (piece < pieces.length && (pieces[piece] === any || pieces[piece] === characters[at])) {
      piece += 1
      at += 1
    } else if (afterMany >= 0) {
      piece = afterMany
      at = ++retry
    } else return false
  }
  while (pieces[piece] === many) piece += 1
  return piece === pieces.length
}
