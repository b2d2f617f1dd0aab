import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FollowedIndexes } from '../../../src/knowledge/followed-indexes.js'
import { DocumentWriter } from '../../../src/knowledge/write-documents.js'
import { commandHere } from '../../support/command-here.js'
import { mindledger } from '../../support/cli.js'
import { restartable, send, spawnService, sql, temporaryDirectory } from '../../support/service.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { tinyEmbeddingModel, tinyTokenizer } from '../../support/onnx/embedding-model.js'
import { until } from '../../support/until.js'

const service = restartable()
const place = temporaryDirectory()
let url: string
beforeAll(async () => {
  url = await service.start()
  for (const [name, content, original] of [
    ['tiny', tinyEmbeddingModel(), 'model.onnx'],
    ['tiny_tokenizer', tinyTokenizer, 'tokenizer.json'],
  ] as const) {
    const form = new FormData()
    form.set('file', new Blob([content]), original)
    await send(url, 'PUT', `/api/files/${name}`, form)
  }
})
afterAll(async () => {
  await service.remove()
  place.remove()
})

/** Letters only, so that a word is one token and no stem is cut off. */
const unique = () => `q${[...randomBytes(10)].map((byte) => String.fromCharCode(97 + (byte % 20))).join('')}q`
const tracesOf = (texts: readonly string[]) =>
  tracesInFiles(
    filesUnder(service.path),
    texts.map((text) => Buffer.from(text)),
  )
const path = '/api/projects/mindsdb/knowledge_bases'
const erase = (documents: object, more: object = {}) =>
  send(url, 'POST', '/api/log/erasures', { documents: { project: 'mindsdb', ...documents }, ...more })
const ids = async (query: string) => (await sql(url, query)).data.map(([id]) => id)

test('erased documents leave no byte in any file: no text, no id, no metadata, no word; the others are found as before, also after a rebuild', async () => {
  await send(url, 'POST', path, { knowledge_base: { name: 'docs', embedding_model: { provider: 'onnx', file: 'tiny' } } })
  const gone = Array.from({ length: 8 }, () => ({ id: unique(), content: `${unique()} dog ${unique()}`, note: unique() }))
  const stay = Array.from({ length: 8 }, () => ({ id: unique(), content: `${unique()} cat ${unique()}`, note: unique() }))
  const rows = gone.flatMap((one, i) => [one, stay[i]!])
  await send(url, 'PUT', `${path}/docs`, { knowledge_base: { rows } })
  // An earlier version of a document goes with it.
  const before = gone[0]!.content
  await send(url, 'PUT', `${path}/docs`, { knowledge_base: { rows: [{ ...gone[0], content: `${unique()} dog` }, stay[0]] } })
  const current = String((await sql(url, `SELECT chunk_content FROM docs WHERE id = '${gone[0]!.id}'`)).data[0]?.[0])
  const listed = async () => (await sql(url, "SELECT id, chunk_content, relevance FROM docs WHERE content = 'kitten' LIMIT 8")).data
  const found = await listed()
  const words = [
    ...gone.flatMap(({ id, content, note }) => [id, note, ...content.split(' dog ')]),
    ...before.split(' dog '),
    current.split(' ')[0]!,
  ]

  const dry = await erase({ knowledge_base: 'docs', ids: gone.map(({ id }) => id) }, { dry_run: true })
  expect(dry).toMatchObject({ status: 200, body: { dry_run: true, rows: 9, positions: [] } })
  const erased = await erase({ knowledge_base: 'docs', ids: gone.map(({ id }) => id) })
  expect(erased).toMatchObject({ status: 200, body: { what: 'documents', subject: 'mindsdb.docs', rows: 9 } })
  expect(tracesOf(words)).toEqual([])
  expect(await listed()).toEqual(found)
  expect(await ids("SELECT id FROM docs WHERE content = 'puppy'")).not.toEqual(expect.arrayContaining([gone[1]!.id]))
  expect(await ids('SELECT id FROM docs')).toHaveLength(8)

  await service.stop()
  const files = filesUnder(service.path).filter((name) => name.includes('/knowledge/'))
  expect(files).not.toEqual([])
  for (const file of files) rmSync(file)
  url = await service.start()
  expect(await listed()).toEqual(found)
  expect(tracesOf(words)).toEqual([])
})

test('documents are refused if data is erased after their rows were read, and accepted when they come again', async () => {
  await send(url, 'POST', path, { knowledge_base: { name: 'raced' } })
  const write = jest.spyOn(DocumentWriter.prototype, 'write')
  const inserts = [
    () => sql(url, 'INSERT INTO raced SELECT id, content FROM files.leaving'),
    async () => (await send(url, 'PUT', `${path}/raced`, { knowledge_base: { files: ['leaving'] } })).body,
    async () => (await send(url, 'PUT', `${path}/raced`, { knowledge_base: { query: 'SELECT * FROM files.leaving' } })).body,
  ]
  try {
    for (const insert of inserts) {
      const form = new FormData()
      form.set('file', new Blob(['id,content\nm1,dog\n']), 'a.csv')
      await send(url, 'PUT', '/api/files/leaving', form)
      write.mockImplementationOnce(async function (this: DocumentWriter, ...given) {
        expect(await send(url, 'POST', '/api/log/erasures', { file: { name: 'leaving' } })).toMatchObject({ status: 200 })
        return this.write(...given)
      })
      expect(JSON.stringify(await insert())).toContain('data was erased while this was under way')
      expect(await ids('SELECT id FROM raced')).toEqual([])
    }
    const row = "SELECT 'm1' AS id, 'dog' AS content"
    expect((await sql(url, `INSERT INTO raced ${row}`)).error_message).toBeUndefined()
    expect(await ids('SELECT id FROM raced')).toEqual(['m1'])
  } finally {
    write.mockRestore()
  }
})

test('all documents of a deleted knowledge base are erased by its id', async () => {
  const made = (await send(url, 'POST', path, { knowledge_base: { name: 'whole' } })).body as { id: number }
  const secrets = Array.from({ length: 5 }, unique)
  await send(url, 'PUT', `${path}/whole`, { knowledge_base: { rows: secrets.map((content) => ({ content })) } })
  expect(await ids(`SELECT id FROM whole WHERE content = '${secrets[0]!}'`)).toHaveLength(1)
  const { position } = (await send(url, 'POST', `${path}/whole/completions`, { query: 'x', type: 'context' })).body as { position: number }
  await send(url, 'DELETE', `${path}/whole`)
  expect(await erase({ knowledge_base: String(made.id) })).toMatchObject({ status: 200, body: { rows: 5 } })
  expect(tracesOf(secrets)).toEqual([])
  expect(await ids(`SELECT id FROM whole AT (VERSION => ${position}) WHERE content = '${secrets[0]!}'`)).toEqual([])
  expect(await erase({ knowledge_base: String(made.id) })).toMatchObject({ status: 200, body: { rows: 0, already_erased: 1 } })
})

test('documents that were erased after a backup do not come back with it; the others of their insert are told', async () => {
  await send(url, 'POST', path, { knowledge_base: { name: 'manuals', embedding_model: { provider: 'onnx', file: 'tiny' } } })
  const insert = (...rows: object[]) => send(url, 'PUT', `${path}/manuals`, { knowledge_base: { rows } })
  await insert({ id: 'm1', content: 'a dog' }, { id: 'm2', content: 'a cat' })
  await insert({ id: 'm3', content: 'a puppy' })
  const [backup, list, restored] = ['backup', 'log.jsonl', 'restored'].map((name) => join(place.path, name)) as [string, string, string]
  const at = { DATA_DIR: service.path }
  expect(await mindledger(['backup', '--into', backup], at, place.path)).toMatchObject({ code: 0 })
  expect(await erase({ knowledge_base: 'manuals', ids: ['m2'] })).toMatchObject({ status: 200 })
  writeFileSync(list, (await mindledger(['log'], at, place.path)).out)
  await service.stop()
  mkdirSync(restored)
  copyFileSync(join(service.path, 'vault.key'), join(restored, 'vault.key'))
  const said = await mindledger(['restore', backup, '--into', restored, '--erasures', list], {}, place.path)
  const erasures = readFileSync(list, 'utf8').split('"type":"DataErased"').length - 1
  expect(said).toMatchObject({ code: 0, out: expect.stringContaining(`1 of ${erasures} carried out`) as unknown })
  expect(said.out).toContain('mindsdb.manuals: documents that were inserted together with erased ones were erased, too')
  copyFileSync(join(service.path, 'head.key'), join(restored, 'head.key'))
  const other = await spawnService(restored)
  expect((await sql(other.url, 'SELECT id FROM manuals')).data).toEqual([['m3']])
  expect((await sql(other.url, "SELECT id FROM manuals WHERE content = 'dog'")).data).toEqual([['m3']])
  other.child.kill('SIGTERM')
  await other.ended
  url = await service.start()
})

test('the command erases all the documents that it names', async () => {
  await send(url, 'POST', path, { knowledge_base: { name: 'named' } })
  await send(url, 'PUT', `${path}/named`, { knowledge_base: { rows: ['a', 'b', 'c'].map((id) => ({ id, content: `heron ${id}` })) } })
  expect((await commandHere(['erase', 'documents', 'mindsdb.named', 'a', 'c', '--url', url])).err).toBe('')
  expect(await ids('SELECT id FROM named')).toEqual(['b'])
})

test('documents that are erased already are erased by the same request again, with other ones of it or alone', async () => {
  await send(url, 'POST', path, { knowledge_base: { name: 'again' } })
  const insert = (...rows: string[]) =>
    send(url, 'PUT', `${path}/again`, { knowledge_base: { rows: rows.map((id) => ({ id, content: `owl ${id}` })) } })
  await insert('a', 'b')
  await insert('c')
  const again = (...ids: string[]) => erase({ knowledge_base: 'again', ids })
  expect((await again('absent')).status).toBe(404)
  expect(await again('a')).toMatchObject({ status: 200, body: { rows: 1, already_erased: 0 } })
  expect(await again('a')).toMatchObject({ status: 200, body: { rows: 0, positions: [], already_erased: 1 } })
  expect(await again('b')).toMatchObject({ status: 200, body: { rows: 1, already_erased: 0 } })
  expect(await again('a', 'c')).toMatchObject({ status: 200, body: { rows: 1, already_erased: 1 } })
})

test.each([
  [{ knowledge_base: 'absent' }, 404],
  [{ knowledge_base: 'untouched', ids: ['absent'] }, 404],
  [{ knowledge_base: 'docs', ids: [] }, 400],
])('an erasure of nothing is refused: %j', async (documents, status) => {
  await send(url, 'POST', path, { knowledge_base: { name: 'untouched' } })
  expect((await erase(documents)).status).toBe(status)
})

test('an erasure of documents that is sent again after a start is answered when no index has them', async () => {
  await send(url, 'POST', path, { knowledge_base: { name: 'cut' } })
  const content = `${unique()} heron`
  await send(url, 'PUT', `${path}/cut`, { knowledge_base: { rows: [{ id: 'a', content }] } })
  expect(await ids("SELECT id FROM cut WHERE content = 'heron'")).toEqual(['a'])
  await service.stop()
  const files = () => filesUnder(service.path).filter((name) => name.includes('/knowledge/'))
  const copies = files().map((file) => ({ file, bytes: readFileSync(file) }))
  url = await service.start()
  const again = () => erase({ knowledge_base: 'cut' })
  expect(await again()).toMatchObject({ status: 200, body: { rows: 1 } })
  await service.stop()
  // As a process leaves the indexes that is killed after the event.
  for (const file of files()) rmSync(file)
  for (const { file, bytes } of copies) writeFileSync(file, bytes)
  const begin = jest.spyOn(FollowedIndexes.prototype, 'purge').mockRejectedValueOnce(new Error('no room on the disk'))
  try {
    url = await service.start()
    await until(() => begin.mock.calls.length > 0)
    expect(await again()).toMatchObject({ status: 200, body: { rows: 0, positions: [], already_erased: 1 } })
    expect(tracesOf([content])).toEqual([])
  } finally {
    begin.mockRestore()
  }
})
