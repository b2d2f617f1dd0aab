import { limits } from '../../basics/limits.js'
import type { Condition } from './filters.js'
import type { IndexConnection } from './schema.js'
import { stopWords } from './stop-words.js'

/** A chunk with words of the question: its share of the best possible score, and its relevance, both from 0 to 1. */
export type WordHit = { key: number; share: number; relevance: number }

/** A word and its weight. */
type WeightedWord = readonly [word: string, weight: number]

/** The index to search: that of current chunks, or that of past ones. */
type WordIndex = 'words' | 'past'

/** The weight that FTS5 itself gives to a word that more than half of all chunks have. */
const leastWeight = 1e-6
/** The upper bound of BM25 as FTS5 computes it, however often a word is repeated. */
const most = 2.2

/** The words of a text: sequences of letters and digits. Stop words are left out if there are other words. */
const wordsIn = (text: string): string[] => {
  const all = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu))]
  const telling = all.filter((word) => !stopWords.has(word))
  return (telling.length > 0 ? telling : all).slice(0, limits.knowledgeQueryMaxWords)
}

/** A word of a question and its stems in the index: several stems if marks divide the word, as in `हिन्दी`. */
type AskedWord = { word: string; stems: readonly string[] }

/** The words that the index tells apart: `running` and `runs` are the same word. */
const askedWords = (db: IndexConnection, words: readonly string[]): AskedWord[] => {
  db.exec('DELETE FROM temp.asked')
  const insert = db.prepare('INSERT INTO temp.asked (rowid, word) VALUES (?, ?)')
  for (const [i, word] of words.entries()) insert.run(i + 1, word)
  const terms = db.prepare<[], { term: string; doc: number }>('SELECT term, doc FROM temp.asked_terms ORDER BY doc, offset').all()
  const stems = words.map((): string[] => [])
  for (const { term, doc } of terms) stems[doc - 1]?.push(term)
  const asked = new Map<string, AskedWord>()
  for (const [i, of] of stems.entries()) {
    const key = of.join(' ')
    if (key !== '' && !asked.has(key)) asked.set(key, { word: words[i] ?? '', stems: of })
  }
  return [...asked.values()]
}

/** The relevance for a share of the best possible score: a chunk of usual length that has all words once gets well above one half. */
const relevanceOf = (share: number): number => (2 * share) / (1 + share)

/** A query of an index of words, and the values after the words. `+rowid` keeps SQLite from searching the index once for each key. */
const selectionOf = (index: WordIndex, allowed: Condition | ReadonlySet<number>): Condition => {
  if ('size' in allowed)
    return {
      sql: `SELECT rowid AS key, -rank AS score FROM ${index} WHERE ${index} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
        ORDER BY rank LIMIT ?`,
      values: [JSON.stringify([...allowed])],
    }
  const { sql, values } = allowed
  if (sql === '') return { sql: `SELECT rowid AS key, -rank AS score FROM ${index} WHERE ${index} MATCH ? ORDER BY rank LIMIT ?`, values }
  return {
    sql: `SELECT c.key AS key, -f.rank AS score FROM ${index} AS f CROSS JOIN chunks AS c ON c.key = f.rowid
      JOIN documents AS d ON d.key = c.document WHERE f.${index} MATCH ?${sql} ORDER BY f.rank LIMIT ?`,
    values,
  }
}

/** The search for the words of a question in a knowledge base, by BM25. */
export class Bm25Search {
  readonly #words: readonly AskedWord[]

  constructor(
    private readonly db: IndexConnection,
    text: string,
  ) {
    this.#words = askedWords(db, wordsIn(text))
  }

  /**
   * The chunks that have words of the question and pass a condition, or are among the given ones, the best first. The user's text is never
   * syntax: each word is quoted, and has only letters and digits.
   */
  hits(index: WordIndex, allowed: Condition | ReadonlySet<number>, limit: number): WordHit[] {
    const weights = this.#weights(index)
    const best = most * weights.reduce((sum, [, weight]) => sum + weight, 0)
    if (best === 0) return []
    const ask = (words: readonly WeightedWord[]): WordHit[] => {
      const match = words.map(([word]) => `"${word}"`).join(' OR ')
      const { sql, values } = selectionOf(index, allowed)
      const rows = this.db.prepare<(string | number)[], { key: number; score: number }>(sql).all(match, ...values, limit)
      return rows.map(({ key, score }) => {
        const share = Math.min(1, Math.max(0, score / best))
        return { key, share, relevance: relevanceOf(share) }
      })
    }
    // Words that most chunks have weigh nothing and take the most time, so they are searched only if the other words find too few chunks.
    const telling = weights.filter(([, weight]) => weight > leastWeight)
    const found = telling.length > 0 && telling.length < weights.length ? ask(telling) : []
    return found.length === limit ? found : ask(weights)
  }

  /** The weight of each word in BM25: that of its rarest part. */
  #weights(index: WordIndex): WeightedWord[] {
    const chunks = this.db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${index}_docsize`).get()?.n ?? 0
    if (chunks === 0) return []
    const find = this.db.prepare<[string], { doc: number }>(`SELECT doc FROM ${index}_terms WHERE term = ?`)
    return this.#words.map(({ word, stems }) => {
      const having = stems.reduce((least, stem) => Math.min(least, find.get(stem)?.doc ?? 0), chunks)
      const weight = Math.log((chunks - having + 0.5) / (having + 0.5))
      return [word, weight <= 0 ? leastWeight : weight]
    })
  }
}
