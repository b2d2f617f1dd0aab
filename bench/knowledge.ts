import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { BaseIndex } from '../src/knowledge/index/base-index.js'
import type { SearchRequest } from '../src/knowledge/index/messages.js'
import { vectorBytes } from '../src/knowledge/index/vector-bytes.js'
import { dot, normalised } from '../src/knowledge/index/vectors.js'
import { median } from './harness/harness.js'
import { removeDirectory } from './harness/processes.js'

const chunks = Number(process.env['CHUNKS'] ?? 100_000)
const dimensions = 384
const wordsInChunk = 120
const vocabulary = 30_000
/** A search ignores the most frequent words, such as `the` and `of`. */
const telling = 100
const atOnce = 1_000
const rounds = 21

let seed = 7
const random = (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}
/** Words have the frequencies of a natural language: the second word is half as frequent as the first, the third a third as frequent. */
const word = (from: number): string => `w${Math.floor(from * Math.exp(random() * Math.log(vocabulary / from))).toString(36)}`
const text = (words: number, from = 1): string => Array.from({ length: words }, () => word(from)).join(' ')
const vector = (): Float32Array => normalised(Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5))

const took = (work: () => unknown): number => {
  const from = performance.now()
  work()
  return performance.now() - from
}

/** Milliseconds of processor time: they show the cost of a search also on a busy machine. */
const processorTime = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const identity = { logId: 'log', base: 'base', code: 'code' }

const fill = (index: BaseIndex, bare: Database.Database, all: Float32Array): void => {
  const add = bare.prepare('INSERT INTO words (rowid, content) VALUES (?, ?)')
  for (let from = 0; from < chunks; from += atOnce) {
    const rows = Array.from({ length: Math.min(atOnce, chunks - from) }, (_, i) => ({
      id: `d${from + i}`,
      content: text(wordsInChunk),
      metadata: { year: 1_900 + (i % 100) },
    }))
    const vectors = rows.map(vector)
    for (const [i, one] of vectors.entries()) all.set(one, (from + i) * dimensions)
    const version = from / atOnce + 1
    const inserted = {
      payload: `p${version}`,
      chunking: { size: 10_000, overlap: 0 },
      dimensions,
      replaces: [],
      documents: rows,
      vectors: vectorBytes(vectors),
    }
    index.apply([{ version, position: version, inserted }])
    bare.transaction(() => {
      for (const [i, { content }] of rows.entries()) add.run(from + i + 1, content)
    })()
  }
}

/**
 * Searches of a knowledge base, without the process around it, compared with the minimum: a loop over a Float32Array, and a query of FTS5.
 */
export const knowledge = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-knowledge-'))
  const file = join(directory, 'index.sqlite')
  const all = new Float32Array(chunks * dimensions)
  const bare = new Database(join(directory, 'bare.sqlite'))
  bare.exec("CREATE VIRTUAL TABLE words USING fts5(content, content='', tokenize='porter unicode61 remove_diacritics 2')")
  const built = new BaseIndex(file, identity, { version: 0, erasedAt: 0 })
  fill(built, bare, all)
  built.close()
  const match = bare.prepare('SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10')
  const loop = ({ vector: question }: SearchRequest) => {
    let best = -1
    for (let i = 0; question && i < chunks; i++) best = Math.max(best, dot(question, all, i * dimensions))
    return best
  }
  const words = ({ content }: SearchRequest) =>
    match.all(
      content
        .split(' ')
        .map((one) => `"${one}"`)
        .join(' OR '),
    )
  const both = (request: SearchRequest) => [loop(request), words(request)]
  const request = (more: Partial<SearchRequest>): SearchRequest => ({
    ...{ content: text(8, telling), vector: vector(), alpha: 1, limit: 10, minRelevance: 0, filters: [], asOf: null },
    ...more,
  })
  const half = Math.floor(chunks / atOnce / 2)
  const year = { column: 'year', op: '=', value: 1_950 } as const
  const cases: readonly [string, Partial<SearchRequest>, (request: SearchRequest) => unknown][] = [
    ['vectors', {}, loop],
    ['words', { alpha: 0 }, words],
    ['both', { alpha: 0.5 }, both],
    ['vectors of the past', { asOf: half }, loop],
    ['both of the past', { alpha: 0.5, asOf: half }, both],
    ['vectors, filtered', { filters: [year] }, loop],
    ['both, filtered', { alpha: 0.5, filters: [year] }, both],
  ]
  let index: BaseIndex | undefined
  const first = took(() => {
    index = new BaseIndex(file, identity, { version: Number.MAX_SAFE_INTEGER, erasedAt: 0 })
    index.search(request({}))
  })
  console.log(`knowledge, open and first search: ${first.toFixed(0)} ms (${chunks} chunks of ${dimensions} dimensions)`)
  for (const [name, more, bareWork] of cases) {
    const times: Record<'ours' | 'bare' | 'processor', number[]> = { ours: [], bare: [], processor: [] }
    for (let n = 0; n < rounds; n++) {
      const asked = request(more)
      times.ours.push(took(() => times.processor.push(processorTime(() => index?.search(asked)))))
      times.bare.push(took(() => bareWork(asked)))
    }
    const [ours, least] = [median(times.ours), median(times.bare)]
    const most = Math.max(...times.ours)
    console.log(
      `knowledge, ${name.padEnd(20)}: ${(ours / least).toFixed(2)} times the bare loop   ours ${ours.toFixed(1)} ms, at most ${most.toFixed(1)}, processor ${median(times.processor).toFixed(1)}   bare ${least.toFixed(1)} ms`,
    )
  }
  index?.close()
  bare.close()
  removeDirectory(directory)
  await Promise.resolve()
}
