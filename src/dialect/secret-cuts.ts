import { mask } from '../basics/shown.js'
import { isSecretKey } from '../vault/secret-keys.js'

/** A part of a text, and its replacement. */
export type Cut = { start: number; end: number; text: string }

/** The order of cuts: by their start, and the longest first if several begin at one place. */
export const inOrder = (cuts: readonly Cut[]): Cut[] => [...cuts].sort((a, b) => a.start - b.start || b.end - a.end)

/** A text with its cuts replaced. The cuts must be in order; overlapping cuts become one mask. */
export const replaced = (text: string, cuts: readonly Cut[], render: (cut: Cut) => string): string => {
  let shown = ''
  let at = 0
  for (const cut of cuts) {
    if (cut.end <= at) continue
    if (cut.start >= at) shown += text.slice(at, cut.start) + render(cut)
    else shown += render({ ...cut, start: at, text: '' })
    at = cut.end
  }
  return shown + text.slice(at)
}

/** Whether a text ends with a secret key, perhaps in quotes: `{"api_key"`, `my api key`, `Pwd`. */
export const endsWithSecretKey = (text: string): boolean => {
  const words = text
    .slice(-100)
    .replace(/\/\*(?:(?!\/\*).)*?\*\//gs, ' ')
    .replace(/[^\p{L}\p{N}]+$/u, '')
    .split(/[^\p{L}\p{N}_]+/u)
    .slice(-3)
  return words.some((_, i) => isSecretKey(words.slice(i).join('_')))
}

const wordMaxChars = 80

/** The last words of a text during the walk. It tests only once whether the same words are a secret key. */
class LastWords {
  private words: string[] = []
  private beforeComment: string[] | undefined
  private readonly known = new Map<string, boolean>()

  add(word: string): void {
    this.words = [...this.words.slice(-2), word.slice(-wordMaxChars)]
  }

  openComment(): void {
    this.beforeComment = this.words
  }

  /** A comment between a key and its value does not belong to the key. */
  closeComment(): void {
    this.words = this.beforeComment ?? this.words
    this.beforeComment = undefined
  }

  get areKey(): boolean {
    const said = this.words.join(' ')
    const known = this.known.get(said) ?? this.sayKey()
    this.known.set(said, known)
    return known
  }

  /** The end of a key identifies it, so the last words are enough, unless a word before them changes their meaning. */
  private sayKey(): boolean {
    const all = this.words.join('_')
    return isSecretKey(all) || (/pin|pass|[^ -~]/i.test(all) && this.words.some((_, i) => isSecretKey(this.words.slice(i).join('_'))))
  }
}

/** A text without one of these characters has no value to look for. */
const beforeValue = /[=:]|bearer/i
const wordOrMark = /[\p{L}\p{N}_]+|\/\*|\*\/|[=:]/gu

/** The beginning of the value of the first secret key in a text: after its `=` or `:`, or after "Bearer". */
export const secretInText = (text: string): number | undefined => {
  if (!beforeValue.test(text)) return undefined
  const last = new LastWords()
  for (const { 0: piece, index } of text.matchAll(wordOrMark)) {
    const end = index + piece.length
    const valueAt = (from: number) => from + (/^[>=\s]*/.exec(text.slice(from))?.[0].length ?? 0)
    switch (piece) {
      case '/*':
        last.openComment()
        break
      case '*/':
        last.closeComment()
        break
      case '=':
      case ':':
        if (last.areKey) return valueAt(end)
        break
      default:
        if (/^bearer$/i.test(piece) && /\s/.test(text.charAt(end))) return valueAt(end + 1)
        last.add(piece)
    }
  }
  return undefined
}

/**
 * Finds user and password in URLs. Inside a text in quotes, `whole` reads quotes and spaces as characters of the password too. Everything
 * before the last @ is cut, because slashes and @ in passwords are often not escaped.
 */
export const urlCuts = (text: string, whole: boolean): Cut[] => {
  if (!text.includes('://')) return []
  const runs = whole ? /\S+/g : /[^\s'"`]+/g
  const cuts: Cut[] = []
  for (const run of text.matchAll(runs)) {
    const start = run[0].indexOf('://') + 3
    const end = run[0].lastIndexOf('@')
    if (start > 2 && end >= start) cuts.push({ start: run.index + start, end: run.index + end, text: mask })
  }
  return whole ? [...cuts, ...spacedUrlCuts(text)] : cuts
}

/** `://user:pass word@`: a password with spaces, which ends at the next @. */
const spacedUrlCuts = (text: string): Cut[] => {
  const cuts: Cut[] = []
  const user = /:\/\/[^\s/:@]{1,200}:/g
  for (let match = user.exec(text); match; match = user.exec(text)) {
    const end = text.indexOf('@', user.lastIndex)
    if (end < 0) break
    cuts.push({ start: match.index + 3, end, text: mask })
    user.lastIndex = end
  }
  return cuts
}

/** For a text that cannot be cut into tokens: everything after the first secret key is removed. */
export const rawCuts = (text: string): Cut[] => {
  const known = new Map<string, boolean>()
  const isSecret = (key: string) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const now = isSecretKey(key)
    known.set(key, now)
    return now
  }
  let before = ''
  for (const word of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const here = word[0].slice(0, 200)
    if (isSecret(here) || isSecret(`${before}_${here}`) || /^bearer$/i.test(here) || (/^identified$/i.test(before) && /^by$/i.test(here))) {
      const end = word.index + word[0].length
      const start = end + (/^["'`\\\]]*\s*[=:>]*\s*/.exec(text.slice(end, end + 200))?.[0].length ?? 0)
      return [...urlCuts(text.slice(0, start), true), { start, end: text.length, text: mask }]
    }
    before = here
  }
  return urlCuts(text, true)
}
