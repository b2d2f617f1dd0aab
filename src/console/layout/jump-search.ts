import { select } from '../api/sql.js'
import { kinds } from '../basics/kinds.js'

/** The kind of a resource in words. */
const word = "CASE kind WHEN 'database' THEN 'connection' ELSE replace(kind, '_', ' ') END"

/** The most words of a search; more say nothing new. */
const wordsMax = 8

export type FoundResource = { kind: string; project: string | null; name: string; about: string }

/** The words of a search, in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, wordsMax)

/**
 * The resources whose name, kind and project contain all words of a text: the first ones, and how many there are. Names that are the text
 * come first, then names that begin with it.
 *
 * @example await searchResources('view shop', 30, undefined, signal) // { found: [{ name: 'rents', about: 'view of shop', … }], count: 1 }
 * @throws ApiError
 */
export const searchResources = async (
  text: string,
  most: number,
  at: string | undefined,
  signal: AbortSignal,
): Promise<{ found: FoundResource[]; count: number }> => {
  const words = wordsOf(text)
  const conditions = words.map((_, i) => `AND contains(lower(concat_ws(' ', name, about)), :word${i})`).join(' ')
  const found = await select<FoundResource & { n: number }>({
    query: `SELECT kind, project, name, about, count(*) OVER () AS n
      FROM (SELECT *, concat_ws(' of ', ${word}, project) AS about FROM log.resources)
      WHERE list_contains(:kinds::VARCHAR[], kind) ${conditions}
      ORDER BY lower(name) = :text DESC, starts_with(lower(name), :text) DESC, kind, project, name LIMIT ${most}`,
    params: {
      kinds: kinds.map(({ kind }) => kind),
      text: text.toLowerCase().trim(),
      ...Object.fromEntries(words.map((one, i) => [`word${i}`, one])),
    },
    at,
    signal,
  })
  return { found, count: found[0]?.n ?? 0 }
}
