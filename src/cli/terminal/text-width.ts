const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** The columns of a terminal that a character takes: none for combining marks, two for wide characters. */
const widthOf = (character: string): number => (/\p{M}|\u200d/u.test(character) ? 0 : wide.test(character) ? 2 : 1)

const isPlain = (text: string): boolean => /^[ -~]*$/.test(text)

/**
 * The columns of a terminal that a text takes.
 *
 * @example textWidth('日本') // 4
 */
export const textWidth = (text: string): number =>
  isPlain(text) ? text.length : Array.from(text).reduce((sum, character) => sum + widthOf(character), 0)

/** A text cut to this many columns, with a sign where it was cut. */
export const cutToWidth = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text
  let cut = ''
  let left = width - 1
  for (const character of text) {
    left -= widthOf(character)
    if (left < 0) break
    cut += character
  }
  return `${cut}…`
}

/** A text padded with spaces to this many columns. */
export const padToWidth = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))

/** Escapes control characters, so that a value cannot control the terminal. */
export const withoutControls = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
