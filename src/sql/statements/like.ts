/** Reads a pattern into what each place takes: a character, any one, or any number of them. */
const piecesOf = (pattern: string): (string | typeof any | typeof many)[] => {
  const pieces: (string | typeof any | typeof many)[] = []
  const characters = Array.from(pattern.toLowerCase())
  for (let i = 0; i < characters.length; i++) {
    const here = characters[i] ?? ''
    if (here === '\\' && i + 1 < characters.length) pieces.push(characters[++i] ?? '')
    else pieces.push(here === '%' ? many : here === '_' ? any : here)
  }
  return pieces
}
const any = Symbol('any')
const many = Symbol('many')

/**
 * MySQL's LIKE on one text, without regard to case: `%` is any text, `_` any character, a backslash takes the next one as it is.
 * Walks back only to the last `%`, so no pattern takes more than length times length steps.
 *
 * @example isLike('version_comment', 'version%') // true
 */
export const isLike = (text: string, pattern: string): boolean => {
  const pieces = piecesOf(pattern)
  const characters = Array.from(text.toLowerCase())
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
