import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { streamId } from '../../../events/common.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { Blobs } from '../../../src/files/blobs.js'
import { Embedders, type EmbeddingOverHttp } from '../../../src/knowledge/embedding/embedders.js'
import { FollowedIndexes } from '../../../src/knowledge/followed-indexes.js'
import { IndexProcess } from '../../../src/knowledge/index-client.js'
import { Knowledge } from '../../../src/knowledge/knowledge.js'
import { PageReader } from '../../../src/knowledge/read-pages.js'
import type { Resource, Origin } from '../../../src/log/contract/log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { unlimited } from '../../../src/llm/tokens/daily-token-quotas.js'
import { Vault } from '../../../src/vault/vault.js'
import { temporaryDirectory } from '../../support/service.js'
import { signalTo } from '../../support/processes.js'

const noPages = new PageReader({ fetch, textOf: () => Promise.reject(new TypeError('no pages are read here')) })

const origin: Origin = { actor: 'ada', source: 'rest', request: 'r', correlation: null, causation: null }
const place = temporaryDirectory()
let [directory, n] = ['', 0]
let log: SqliteLog
let process: IndexProcess
let knowledge: Knowledge
let base: Resource<'knowledge_base'>
const all: { stop: () => void }[] = []

const open = (bounds = {}, overHttp: EmbeddingOverHttp = () => Promise.resolve(undefined)) => {
  process = new IndexProcess(join(directory, 'knowledge'), bounds)
  all.push(process)
  const ledger = new Ledger(log, new Vault(Buffer.alloc(32, 7)))
  knowledge = new Knowledge({
    ledger,
    log,
    indexes: new FollowedIndexes(log, process),
    embedders: new Embedders({ log, blobs: new Blobs(directory), overHttp }),
    pages: noPages,
    spendingOfProject: () => unlimited,
    reranker: () => Promise.reject(new Error('there is none')),
  })
  return ledger
}

beforeEach(async () => {
  directory = join(place.path, String(++n))
  new Blobs(directory)
  log = new SqliteLog({ file: join(place.path, `log${n}.sqlite`), vault: new Vault(Buffer.alloc(32, 7)) })
  const ledger = open()
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
  const { stream } = await ledger.execute({ type: 'CreateKnowledgeBase', data: { project: 'shop', knowledge_base: 'docs' } }, origin)
  base = (await log.resources.byStream('knowledge_base', streamId.parse(stream)))!
})
afterEach(async () => {
  for (const one of all.splice(0)) one.stop()
  await log.close()
})
afterAll(() => place.remove())

const rows = (from: number, count: number, word = 'heron') =>
  Array.from({ length: count }, (_, i) => ({
    id: String(from + i),
    content: `${word} number ${from + i} stands in the reeds`,
    year: 2000 + (i % 20),
  }))
const insert = (from: number, count: number, word?: string) =>
  knowledge.insert({ knowledgeBase: base, source: 'rows', rows: rows(from, count, word), isAtomic: true, origin })
const search = async (content: string, more = {}) =>
  (await knowledge.search(base, { content, limit: 100, ...more }, { origin, purpose: 'search' })).chunks
const count = async () => (await knowledge.facts(base)).documents
const kill = () => signalTo(process.pid, 'SIGKILL')
const file = () =>
  join(
    directory,
    'knowledge',
    readdirSync(join(directory, 'knowledge')).find((name) => name.endsWith('.sqlite'))!,
  )

test('a process that is killed while documents come in loses none: the next one has what the log has', async () => {
  await insert(0, 10)
  for (let round = 1; round <= 5; round++) {
    const inserting = insert(round * 1_000, 900)
    await new Promise((resolve) => setTimeout(resolve, round * 7))
    kill()
    expect(await inserting).toMatchObject({ documents: 900 })
    expect(await count()).toBe(10 + round * 900)
  }
  expect((await search('heron 5899')).map(({ id }) => id)[0]).toBe('5899')
})

test('a process that is killed while it searches is asked again', async () => {
  await insert(0, 500)
  const before = await search('heron 77')
  const searching = Array.from({ length: 20 }, () => search('heron 77'))
  kill()
  for (const found of await Promise.all(searching)) expect(found).toEqual(before)
})

test.each<[string, (path: string) => void]>([
  ['is missing', (path) => ['', '-wal', '-shm'].forEach((suffix) => writeFileSync(path + suffix, ''))],
  ['is no database', (path) => writeFileSync(path, Buffer.alloc(100_000, 120))],
  [
    'was made by other code',
    (path) => {
      const db = new Database(path)
      db.exec("UPDATE meta SET value = 'other' WHERE key = 'identity'")
      db.close()
    },
  ],
])('an index that %s is built anew, and gives the same answers', async (_, harm) => {
  await insert(0, 300)
  await insert(100, 100, 'crane')
  const { positions } = await knowledge.remove({ knowledgeBase: base, filters: [{ column: 'year', op: '=', value: 2003 }], origin })
  const questions = ['heron 42', 'crane 120 reeds', 'number']
  const answers = async () => [
    ...(await Promise.all(questions.map((content) => search(content)))),
    ...(await Promise.all(questions.map((content) => search(content, { asOf: positions[0]! - 1 })))),
    (await knowledge.list(base, { limit: 1_000 })).chunks,
  ]
  const before = await answers()
  process.stop()
  harm(file())
  open()
  expect(await answers()).toEqual(before)
})

test('a file that is damaged while it is open is built anew', async () => {
  await insert(0, 2_000)
  const before = await search('heron 1234')
  process.stop()
  const db = new Database(file())
  const pages = Number(db.pragma('page_count', { simple: true }))
  db.close()
  const bytes = Buffer.alloc(4_096, 255)
  const { openSync, writeSync, closeSync } = await import('node:fs')
  const handle = openSync(file(), 'r+')
  for (let page = 5; page < pages; page += 3) writeSync(handle, bytes, 0, 4_096, page * 4_096)
  closeSync(handle)
  open()
  expect(await search('heron 1234')).toEqual(before)
})

test('a question that takes too long costs the process, and the next one is answered', async () => {
  await insert(0, 1_000)
  process.stop()
  open({ callTimeoutMs: 1 })
  await expect(search('heron')).rejects.toMatchObject({ code: 'busy', title: 'Index took too long' })
  // It would take the next process as long, and hold up everybody else again.
  expect(process.generation).toBe(1)
  process.stop()
  open()
  expect(await search('heron 5')).not.toEqual([])
})

test('more questions than wait are refused with busy', async () => {
  await insert(0, 10)
  process.stop()
  open({ queueMaxCalls: 1 })
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => search('heron')))
  expect(answers.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : 'found'))).toContain('busy')
  expect(await search('heron 5')).not.toEqual([])
})

test('documents of much metadata are recorded in as many events as those of much content', async () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ id: String(i), content: 'x', note: 'y'.repeat(60_000) }))
  const { documents, positions } = await knowledge.insert({ knowledgeBase: base, source: 'rows', rows, isAtomic: true, origin })
  expect([documents, positions.length]).toEqual([100, 2])
})

test('vectors go into as many events as they need, and a document with too many is refused before they are made', async () => {
  process.stop()
  let asked = 0
  const embed = (texts: readonly string[]) => {
    asked += texts.length
    return Promise.resolve(texts.map(() => new Float32Array(8_000).fill(1)))
  }
  const ledger = open({}, () => Promise.resolve({ provider: 'openai', model: 'wide', host: 'localhost', embed }))
  const embedding_model = { provider: 'openai', model_name: 'wide', api_key: 'k' }
  const made = await ledger.execute(
    { type: 'CreateKnowledgeBase', data: { project: 'shop', knowledge_base: 'wide', embedding_model } },
    origin,
  )
  const wide = (await log.resources.byStream('knowledge_base', streamId.parse(made.stream)))!
  const preprocessing = { chunk_size: 50, chunk_overlap: 0 }
  const into = { knowledgeBase: wide, source: 'rows', isAtomic: true, origin, preprocessing } as const
  const long = (chunks: number) => 'x'.repeat(50 * chunks)
  const { chunks, positions } = await knowledge.insert({ ...into, rows: ['a', 'b', 'c'].map((id) => ({ id, content: long(1_800) })) })
  expect([chunks, positions.length]).toEqual([5_400, 2])
  expect((await knowledge.facts(wide)).chunks).toBe(5_400)
  asked = 0
  await expect(knowledge.insert({ ...into, rows: [{ id: 'd', content: long(4_500) }] })).rejects.toMatchObject({
    code: 'too_large',
    detail: expect.stringContaining('the vectors of a document'),
  })
  expect(asked).toBe(0)
})

test('many documents of one id are replaced at once', async () => {
  const adding = { knowledgeBase: base, source: 'rows', isAtomic: true, origin } as const
  await knowledge.insert({ ...adding, mode: 'add', rows: rows(0, 2_500).map((row) => ({ ...row, id: 'same' })) })
  expect(await knowledge.insert({ ...adding, rows: [{ id: 'same', content: 'heron' }] })).toMatchObject({ documents: 1, replaced: 2_500 })
  expect(await count()).toBe(1)
})

test('an insert that was decided on other contents is not recorded', async () => {
  await insert(0, 5)
  const ledger = new Ledger(log, new Vault(Buffer.alloc(32, 7)))
  const removed = { knowledge_base: base.stream, documents: 1, removes: [{ position: 3, rows: [0] }] }
  await expect(ledger.execute({ type: 'RemoveKnowledge', data: { name: 'docs', contents: 7, removed } }, origin)).rejects.toMatchObject({
    code: 'busy',
  })
})

test('a removal that is cut off while it waits for an insert removes nothing', async () => {
  await insert(0, 10)
  const client = new AbortController()
  const inserting = insert(1_000, 900)
  const removal = { knowledgeBase: base, filters: [{ column: 'year', op: '=' as const, value: 2003 }], origin, signal: client.signal }
  const removing = knowledge.remove(removal)
  client.abort(new Error('left'))
  await expect(removing).rejects.toThrow('left')
  await inserting
  expect(await count()).toBe(910)
})

test('an index hears of erased documents alone, and of many in several messages', async () => {
  await insert(0, 10)
  const ledger = new Ledger(log, new Vault(Buffer.alloc(32, 7)))
  const erase = (what: 'before' | 'documents', n: number) => {
    const hashOf = (i: number) => createHash('sha256').update(`${n} ${i}`).digest('hex')
    const payloads = Array.from({ length: 1_000 }, (_, i) => ({ hash: hashOf(i), replacement: null }))
    return ledger.execute({ type: 'EraseData', data: { what, subject: 's', reason: null, payloads, blobs: [] } }, origin)
  }
  const ask = jest.spyOn(process, 'ask')
  const told = () => ask.mock.calls.flatMap(([, request]) => ('erase' in request ? [request.erase.length] : []))
  await erase('before', 0)
  expect(await count()).toBe(10)
  expect(told()).toEqual([0])
  for (let n = 1; n <= 70; n++) await erase('documents', n)
  expect(await count()).toBe(10)
  // The hashes of 66 events are longer than a message may be.
  expect(told()).toEqual([0, 66_000, 4_000])
  expect(await count()).toBe(10)
  expect(told()).toHaveLength(3)
})
