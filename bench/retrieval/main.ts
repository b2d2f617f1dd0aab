import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Blobs } from '../../src/files/blobs.js'
import { defaultChunking } from '../../src/commands/knowledge-base-input.js'
import { chunksOf } from '../../src/knowledge/documents/chunks.js'
import { OnnxEmbedder } from '../../src/knowledge/embedding/onnx-embedder.js'
import { BaseIndex } from '../../src/knowledge/index/base-index.js'
import { vectorBytes } from '../../src/knowledge/index/vector-bytes.js'
import { dot, normalised } from '../../src/knowledge/index/vectors.js'
import type { Resources } from '../../src/log/contract/log.js'
import { removeDirectory } from '../harness/processes.js'
import type { Asked, Note } from './questions/lists.js'
import { decisions } from './questions/decisions.js'
import { notes } from './questions/notes.js'
import { packages } from './questions/packages.js'
import { pages } from './questions/pages.js'

type Document = { id: string; content: string }
/** The answer to a question: a document, and the place of a passage in it if only that passage is right. */
type Question = { question: string; id: string; at: number | null }
type List = { name: string; documents: readonly Document[]; questions: readonly Question[] }

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
const generated = '<!-- Written by'

const pagesUnder = (folder: string): Document[] =>
  readdirSync(join(docs, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.endsWith('README.md'))
    .sort()
    .map((file) => ({ id: join(folder, file), content: readFileSync(join(docs, folder, file), 'utf8') }))
    .filter(({ content }) => !content.startsWith(generated))

/** Questions whose passage is no longer there are left out, and named. */
const placed = (asked: readonly Asked[], documents: readonly Document[]): Question[] =>
  asked.flatMap(({ question, page, passage }) => {
    const content = documents.find(({ id }) => id === page)?.content
    const at = passage === undefined ? 0 : (content?.indexOf(passage) ?? -1)
    if (content === undefined || at < 0) {
      console.log(`  left out, as ${page} no longer says it: ${question}`)
      return []
    }
    return [{ question, id: page, at: passage === undefined ? null : at + (passage.length >> 1) }]
  })

/** Short texts, each with a question that it alone answers. */
const ofNotes = (name: string, written: readonly Note[]): List => ({
  name,
  documents: written.map(({ id, text }) => ({ id, content: text })),
  questions: written.map(({ id, question }) => ({ question, id, at: null })),
})

const lists = (): List[] => {
  const decided = pagesUnder('decisions')
  const handbook = ['use', 'operate', 'audit', 'learn'].flatMap(pagesUnder)
  return [
    ofNotes('notes', notes),
    ofNotes('packages', packages),
    { name: 'decisions', documents: decided, questions: placed(decisions, decided) },
    { name: 'pages', documents: handbook, questions: placed(pages, handbook) },
  ]
}

/** The list that must reach LEAST_HIT: it does not change with the documentation. */
const guarded = 'packages'

const openModel = (folder: string): Promise<OnnxEmbedder> => {
  const named = (end: string): string => {
    const file = readdirSync(folder).find((name) => name.endsWith(end))
    if (file === undefined) throw new Error(`${folder} has no file that ends with ${end}`)
    return file
  }
  const files: Record<string, string> = { model: join(folder, named('.onnx')), model_tokenizer: join(folder, named('tokenizer.json')) }
  const one = (_: string, name: string) => Promise.resolve({ state: { columns: [], content: files[name] } })
  const resources = { one } as unknown as Pick<Resources, 'one'>
  const hold = (file: string) => Promise.resolve({ file, release: () => undefined })
  const blobs = { has: () => Promise.resolve(true), hold } as unknown as Blobs
  return OnnxEmbedder.open({ provider: 'onnx', file: 'model' }, { resources, blobs })
}

type Ranked = { id: string; start: number; end: number }

const found = 10

/** The ranks of the answer and of its document among the results, from 1; Infinity if the search did not find it. */
type Rank = { passage: number; document: number }

const rankOf = ({ id, at }: Question, found: readonly Ranked[]): Rank => {
  const placeOf = (isRight: (one: Ranked) => boolean) => {
    const place = found.findIndex((one) => one.id === id && isRight(one))
    return place < 0 ? Infinity : place + 1
  }
  return { passage: placeOf(({ start, end }) => at === null || (start <= at && at < end)), document: placeOf(() => true) }
}

/** The share of questions whose answer comes first. */
const hitsOf = (ranks: readonly Rank[], of: keyof Rank = 'passage'): number => ranks.filter((rank) => rank[of] === 1).length / ranks.length

const print = (name: string, ranks: readonly Rank[]): void => {
  const reciprocal = ranks.reduce((sum, { passage }) => sum + 1 / passage, 0)
  const within = ranks.filter(({ passage }) => passage <= found).length
  const rest = `hit@${found} ${(within / ranks.length).toFixed(2)}   MRR ${(reciprocal / ranks.length).toFixed(2)}   its document first ${hitsOf(ranks, 'document').toFixed(2)}`
  console.log(`  ${name.padEnd(16)} hit@1 ${hitsOf(ranks).toFixed(2)}   ${rest}`)
}

const placesOf = (chunkId: string): { start: number; end: number } => {
  const [, start, end] = /:(\d+)to(\d+)$/.exec(chunkId) ?? []
  return { start: Number(start), end: Number(end) }
}

/** Prints how well each kind of search answers a list, and returns the share of first places of the vectors. */
const measure = async (model: OnnxEmbedder, { name, documents, questions }: List, size: number): Promise<number> => {
  const { signal } = new AbortController()
  const chunking = { size, overlap: Math.min(defaultChunking.overlap, Math.floor(size / 5)) }
  const chunks = documents.flatMap(({ id, content }) => chunksOf(content, chunking).map((chunk) => ({ id, ...chunk })))
  const embed = async (texts: readonly string[]) => (await model.embed(texts, { signal })).map(normalised)
  const vectors = await embed(chunks.map(({ text }) => text))
  const asked = await embed(questions.map(({ question }) => question))
  const directory = mkdtempSync(join(tmpdir(), 'bench-retrieval-'))
  const index = new BaseIndex(join(directory, 'index.sqlite'), { logId: 'log', base: 'base', code: 'code' }, { version: 0, erasedAt: 0 })
  const inserted = {
    ...{ payload: 'p', chunking, dimensions: vectors[0]?.length ?? 0, replaces: [] },
    ...{ documents: documents.map((one) => ({ ...one, metadata: {} })), vectors: vectorBytes(vectors) },
  }
  index.apply([{ version: 1, position: 1, inserted }])
  console.log(`retrieval, ${name}: ${questions.length} questions, ${documents.length} documents, ${chunks.length} chunks of ${size}`)
  const exact = questions.map((question, i) => {
    const similarity = vectors.map((vector) => dot(vector, asked[i] ?? vector, 0))
    const order = [...chunks.keys()].sort((one, other) => (similarity[other] ?? 0) - (similarity[one] ?? 0)).slice(0, found)
    return rankOf(
      question,
      order.flatMap((at) => chunks[at] ?? []),
    )
  })
  print('exact cosine', exact)
  let ofVectors = 0
  for (const [label, alpha] of [
    ['vectors', 1],
    ['hybrid .9', 0.9],
    ['hybrid .5', 0.5],
    ['words', 0],
  ] as const) {
    const ranks = questions.map((question, i) => {
      const request = { content: question.question, vector: asked[i] ?? null, alpha, limit: found }
      const hits = index.search({ ...request, minRelevance: 0, filters: [], asOf: null })
      return rankOf(
        question,
        hits.map(({ id, chunk_id }) => ({ id, ...placesOf(chunk_id) })),
      )
    })
    print(label, ranks)
    if (alpha === 1) ofVectors = hitsOf(ranks)
    if (process.env['MISSED'] === label)
      for (const [i, { passage }] of ranks.entries())
        if (passage > 1) console.log(`    ${String(passage).padStart(8)}  ${questions[i]?.question ?? ''}`)
  }
  index.close()
  removeDirectory(directory)
  return ofVectors
}

/**
 * How well a search finds the text that answers a question in other words: by words, by vectors, by both, and by the exact cosines of the
 * same vectors. Takes the folder of a sentence transformer (a file `….onnx` and a `…tokenizer.json`), and lengths of chunks. With LEAST_HIT
 * in the environment, such as .85, it fails if vectors put fewer of the right packages first.
 */
export const retrieval = async (folder?: string, ...sizes: readonly string[]): Promise<void> => {
  if (folder === undefined) throw new Error('name the folder of the model: npm run bench -- retrieval <folder> [chunk size …]')
  const least = Number(process.env['LEAST_HIT'] ?? 0)
  if (!(least >= 0 && least <= 1)) throw new Error('LEAST_HIT is a share from 0 to 1, such as .85')
  const model = await openModel(folder)
  const missed: string[] = []
  try {
    for (const size of sizes.length > 0 ? sizes.map(Number) : [defaultChunking.size])
      for (const list of lists()) {
        const hits = await measure(model, list, size)
        if (list.name === guarded && hits < least) missed.push(`${hits.toFixed(2)} with chunks of ${size}`)
      }
  } finally {
    model.end()
  }
  if (missed.length > 0) throw new Error(`hit@1 of vectors for ${guarded} is less than LEAST_HIT ${least}: ${missed.join(', ')}`)
}
