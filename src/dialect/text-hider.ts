/** Texts to look for, and their lengths by their first characters. */
type HiddenTexts = { texts: ReadonlySet<string>; lengths: ReadonlyMap<string, readonly number[]> }

const headMaxChars = 4
const headOf = (text: string): string => text.slice(0, headMaxChars)

const hiddenOf = (texts: ReadonlySet<string>): HiddenTexts => {
  const lengths = new Map<string, Set<number>>()
  for (const text of texts) {
    const known = lengths.get(headOf(text)) ?? new Set()
    lengths.set(headOf(text), known.add(text.length))
  }
  return { texts, lengths: new Map([...lengths].map(([head, known]) => [head, [...known].sort((a, b) => b - a)])) }
}

/** The end of the longest hidden text that begins at a place; the place itself if none begins there. */
const hiddenEnd = ({ texts, lengths }: HiddenTexts, text: string, at: number): number => {
  let end = at
  for (let head = 1; head <= headMaxChars; head++) {
    const longest = lengths.get(text.slice(at, at + head))?.find((length) => texts.has(text.slice(at, at + length)))
    if (longest !== undefined) end = Math.max(end, at + longest)
  }
  return end
}

/**
 * A function that replaces each of these texts with a mask, in any other text. One mask covers overlapping texts. Its time grows with the
 * other text, not with the number of texts to look for.
 *
 * @example textHider(['sk-123', 'abc'], '***')('no such key: sk-123') // no such key: ***
 */
export const textHider = (texts: readonly string[], mask: string): ((text: string) => string) => {
  const hidden = hiddenOf(new Set(texts.filter((text) => text !== '')))
  return (text) => {
    let shown = ''
    let end = 0
    for (let at = 0; at < text.length; at++) {
      const hiddenTo = hiddenEnd(hidden, text, at)
      if (hiddenTo > at && at >= end) shown += mask
      end = Math.max(end, hiddenTo)
      if (at >= end) shown += text.charAt(at)
    }
    return shown
  }
}
