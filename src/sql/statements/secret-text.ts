import { isSecretKey } from '../../vault/secret-keys.js'

/** A piece of a text that is replaced by another. */
export type Cut = { start: number; end: number; text: string }

const mask = '******'

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

/** Where the value of the first secret key in a text begins: after its `=` or `:`, or after "Bearer". */
export const secretInText = (text: string): number | undefined => {
  for (const mark of text.matchAll(/[=:]|\bbearer\s/gi)) {
    const end = mark.index + mark[0].length
    if (/^bearer/i.test(mark[0]) || endsWithSecretKey(text.slice(Math.max(0, mark.index - 80), mark.index)))
      return end + (/^[>=\s]*/.exec(text.slice(end))?.[0].length ?? 0)
  }
  return undefined
}

/**
 * User and password in URLs. Inside a text in quotes, `whole` takes quotes and spaces as characters of the password too.
 * What stands before the last @ goes, since passwords have slashes and @ in them more often than people escape them.
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

/** `://user:pass word@`: a password with spaces in it, which ends at the next @. */
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

/** For a text that has no tokens: everything after the first secret key is cut. */
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
