import type { DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'

/** Rewritten statements together may have as many characters. */
const keptChars = 4_000_000

/** What a statement was rewritten to, and the names in double quotes that are texts in it. */
export type Rewritten = { text: string; quoted: ReadonlySet<string> }

const cacheOf = new WeakMap<DuckDBInstance, LRUCache<string, Rewritten>>()

/**
 * Rewritten statements by everything they depend on: the text, its parameters, the database, and the log position, at which
 * all names are fixed. Statements with models are not kept: each run of a model has a number of its own in the text.
 */
export const rewrites = (instance: DuckDBInstance): LRUCache<string, Rewritten> => {
  const known = cacheOf.get(instance)
  if (known) return known
  const made = new LRUCache<string, Rewritten>({ maxSize: keptChars, sizeCalculation: ({ text }, key) => text.length + key.length })
  cacheOf.set(instance, made)
  return made
}
