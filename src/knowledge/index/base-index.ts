/**
 * Room: the process that indexes chunks, and finds them by words and vectors. It imports only events, basics, setup, knowledge/contract and
 * knowledge/documents.
 */

import type { DocumentsAt, ModelFiles } from '../../../events/records/contents.js'
import { chunksOf } from '../documents/chunks.js'
import type { ChunkList, KnowledgeFacts } from '../contract/contents.js'
import type { KnowledgeChunk, MetadataFilter } from '../contract/search.js'
import { conditionOf } from './filters.js'
import { MetadataColumns, typeOfJson, type ColumnType } from './metadata-columns.js'
import type { ErasedDocuments, IndexState, ListRequest, SearchRequest, Step } from './messages.js'
import { openIndex, readMeta, writeMeta, type IndexConnection, type Identity } from './schema.js'
import { listChunks, searchChunks } from './search-chunks.js'
import { blockRows, VectorTable, type VectorBlock } from './vector-table.js'
import { vectorOf } from './vector-bytes.js'
import { checkLength } from './vectors.js'

type ChunkRow = { key: number; content: string }
type InsertStep = Extract<Step, { inserted: unknown }>['inserted']

/**
 * The index of one knowledge base: a file that follows the stream of its contents. It keeps all documents, even replaced and removed ones,
 * with the positions between which they were valid, so that searches of the past find them.
 *
 * @example const index = new BaseIndex(file, identity, { version: 7, erasedAt: 0 }); index.apply(steps); index.search(request)
 */
export class BaseIndex {
  readonly #db: IndexConnection
  #vectors: VectorTable | undefined
  #columns: MetadataColumns | undefined

  /**
   * `ofLog` is the newest version of the contents in the log, and the position of its last erasure: a new file never gets data that was
   * erased before it.
   */
  constructor(file: string, identity: Identity, ofLog: IndexState) {
    this.#db = openIndex(file, identity, ofLog)
    if (readMeta(this.#db, 'erased_at') === undefined) writeMeta(this.#db, 'erased_at', ofLog.erasedAt)
  }

  get state(): IndexState {
    return { version: this.#number('version') ?? 0, erasedAt: this.#number('erased_at') ?? 0 }
  }

  /** Follows events; it skips events that it already has. */
  apply(steps: readonly Step[]): IndexState {
    this.#changing(() => {
      for (const step of steps) {
        if (step.version <= this.state.version) continue
        if ('removed' in step) this.#end(step.removed, step.position)
        else this.#insert(step.position, step.inserted)
        writeMeta(this.#db, 'version', step.version)
        writeMeta(this.#db, 'position', step.position)
      }
    })
    return this.state
  }

  /**
   * Removes erased data, so that no byte of it is left in the file or beside it. Until then the state has the position of the earlier
   * erasure: an erasure that failed or was cut off comes again, and finds the note of what is left to do.
   */
  erase(erased: readonly ErasedDocuments[], erasedAt: number): IndexState {
    this.#changing(() => {
      if (this.#forget(erased) === 0) return
      writeMeta(this.#db, 'unvacuumed', 1)
      this.#readColumns()
      // FTS5 keeps deleted words until it merges the parts of its index; here it merges all of them.
      for (const index of ['words', 'past']) this.#db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`)
    })
    if (this.#number('unvacuumed') === 1) this.#db.exec('VACUUM')
    this.#db.pragma('wal_checkpoint(TRUNCATE)')
    this.#changing(() => {
      writeMeta(this.#db, 'unvacuumed', 0)
      writeMeta(this.#db, 'erased_at', erasedAt)
    })
    return this.state
  }

  /** The places of the valid documents with these ids. */
  find(ids: readonly string[]): [string, number, number][] {
    const one = this.#db.prepare<[string], { position: number; row: number }>(
      'SELECT position, row FROM documents WHERE id = ? AND valid_to IS NULL',
    )
    return ids.flatMap((id) => one.all(id).map(({ position, row }): [string, number, number] => [id, position, row]))
  }

  /** The places of the valid documents that pass all filters. */
  matching(filters: readonly MetadataFilter[]): [string, number, number][] {
    const { sql, values } = conditionOf(filters)
    const rows = this.#db
      .prepare<unknown[], { id: string; position: number; row: number }>(
        `SELECT DISTINCT d.id, d.position, d.row FROM documents AS d JOIN chunks AS c ON c.document = d.key WHERE d.valid_to IS NULL${sql}`,
      )
      .all(...values)
    return rows.map(({ id, position, row }) => [id, position, row])
  }

  /**
   * The chunks that a search finds; those of the past if `asOf` is before the position of the index.
   *
   * @throws Problem for a vector of another length than those of the index
   */
  search(request: SearchRequest): KnowledgeChunk[] {
    if (request.vector) checkLength(request.vector, this.#number('dimensions') ?? null)
    const asOf = request.asOf !== null && request.asOf < (this.#number('position') ?? 0) ? request.asOf : null
    return searchChunks(this.#db, { ...request, asOf }, () => this.#vectorTable())
  }

  /** A page of chunks after a given one, in the order of their keys. */
  list(request: ListRequest): ChunkList {
    return listChunks(this.#db, request)
  }

  /**
   * The numbers of valid documents and of chunks, the columns of metadata, and the dimensions of vectors (null before the first one), with
   * the files of the uploaded model that made the first ones.
   */
  facts(): KnowledgeFacts {
    const files = readMeta(this.#db, 'files')
    return {
      columns: this.#metadataColumns().all,
      documents: this.#count('SELECT count(*) AS n FROM documents WHERE valid_to IS NULL'),
      chunks: this.#count('SELECT count(*) AS n FROM chunks'),
      dimensions: this.#number('dimensions') ?? null,
      ...(files !== undefined && { files: JSON.parse(files) as ModelFiles }),
    }
  }

  close(): void {
    this.#db.close()
  }

  /** Runs work in one transaction. If it fails, the vectors and columns in memory may differ from the file, so they are read again. */
  #changing(work: () => void): void {
    try {
      this.#db
        .transaction(() => {
          work()
          this.#keepVectors()
        })
        .immediate()
    } catch (error) {
      this.#vectors = undefined
      this.#columns = undefined
      throw error
    }
  }

  #number(key: string): number | undefined {
    const text = readMeta(this.#db, key)
    return text === undefined ? undefined : Number(text)
  }

  #count(sql: string): number {
    return this.#db.prepare<[], { n: number }>(sql).get()?.n ?? 0
  }

  #insert(position: number, { payload, chunking, dimensions, files, replaces, documents, vectors }: InsertStep): void {
    this.#end(replaces, position)
    this.#db.prepare('INSERT INTO inserts VALUES (?, ?)').run(position, payload)
    if (dimensions !== null) writeMeta(this.#db, 'dimensions', dimensions)
    if (files && readMeta(this.#db, 'files') === undefined) writeMeta(this.#db, 'files', JSON.stringify(files))
    const addDocument = this.#db.prepare('INSERT INTO documents (position, row, id, metadata) VALUES (?, ?, ?, ?)')
    const addChunk = this.#db.prepare('INSERT INTO chunks (document, number, total, start, finish, content) VALUES (?, ?, ?, ?, ?, ?)')
    const addWords = this.#db.prepare('INSERT INTO words (rowid, content) VALUES (?, ?)')
    const addVector = this.#db.prepare('INSERT INTO vectors VALUES (?, ?)')
    const table = dimensions === null ? undefined : this.#vectorTable()
    const addColumn = this.#db.prepare('INSERT INTO columns VALUES (?, ?)')
    const columns = this.#metadataColumns()
    let place = 0
    for (const [row, document] of (documents ?? []).entries()) {
      if ('erased' in document) continue
      const { lastInsertRowid: key } = addDocument.run(position, row, document.id, JSON.stringify(document.metadata))
      for (const [name, value] of Object.entries(document.metadata)) {
        const type = typeOfJson(value)
        if (columns.note(name, type)) addColumn.run(name, type)
      }
      const chunks = chunksOf(document.content, chunking)
      for (const [i, { start, end, text }] of chunks.entries()) {
        const vector = dimensions !== null && vectors ? vectorOf(vectors, place++, dimensions) : undefined
        const { lastInsertRowid: chunk } = addChunk.run(key, i + 1, chunks.length, start, end, text)
        addWords.run(chunk, text)
        if (!vector) continue
        addVector.run(chunk, Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength))
        table?.add(Number(chunk), position, vector)
      }
    }
  }

  /** Ends the validity of documents at a position: the words of their chunks move to the index of the past. */
  #end(places: readonly DocumentsAt[], position: number): void {
    if (places.length === 0) return
    const find = this.#db.prepare<[number, number], { key: number }>(
      'SELECT key FROM documents WHERE position = ? AND row = ? AND valid_to IS NULL',
    )
    const end = this.#db.prepare('UPDATE documents SET valid_to = ? WHERE key = ?')
    const addPast = this.#db.prepare('INSERT INTO past (rowid, content) VALUES (?, ?)')
    const [chunksOf, drop, table] = [this.#chunksOf(), this.#dropping('words'), this.#vectorTable()]
    for (const { position: at, rows } of places)
      for (const row of rows) {
        const document = find.get(at, row)
        if (!document) continue
        end.run(position, document.key)
        for (const { key, content } of chunksOf.all(document.key)) {
          drop.run(key, content)
          addPast.run(key, content)
          table?.end(key, position)
        }
      }
  }

  #chunksOf() {
    return this.#db.prepare<[number], ChunkRow>('SELECT key, content FROM chunks WHERE document = ?')
  }

  #dropping(index: 'words' | 'past') {
    return this.#db.prepare<[number, string]>(`INSERT INTO ${index} (${index}, rowid, content) VALUES ('delete', ?, ?)`)
  }

  /** Erases documents of these payloads, and returns how many. */
  #forget(erased: readonly ErasedDocuments[]): number {
    const find = this.#db.prepare<[string], { key: number; row: number; valid_to: number | null }>(
      'SELECT d.key, d.row, d.valid_to FROM documents AS d JOIN inserts AS i ON i.position = d.position WHERE i.payload = ?',
    )
    const deletions = [
      'DELETE FROM vectors WHERE chunk IN (SELECT key FROM chunks WHERE document = ?)',
      'DELETE FROM chunks WHERE document = ?',
      'DELETE FROM documents WHERE key = ?',
    ].map((sql) => this.#db.prepare<[number]>(sql))
    const [chunksOf, dropWords, dropPast] = [this.#chunksOf(), this.#dropping('words'), this.#dropping('past')]
    const chunks = new Set<number>()
    let documents = 0
    for (const { payload, stays } of erased) {
      const left = new Set(stays)
      for (const { key: document, row, valid_to } of find.all(payload)) {
        if (left.has(row)) continue
        documents += 1
        for (const { key, content } of chunksOf.all(document)) {
          ;(valid_to === null ? dropWords : dropPast).run(key, content)
          chunks.add(key)
        }
        for (const deletion of deletions) deletion.run(document)
      }
    }
    if (chunks.size > 0) this.#vectorTable()?.remove(chunks)
    return documents
  }

  /** Reads the columns of metadata again, because some may be gone. */
  #readColumns(): void {
    const columns = new MetadataColumns()
    for (const text of this.#db.prepare<[], string>('SELECT metadata FROM documents ORDER BY key').pluck().iterate())
      for (const [name, value] of Object.entries(JSON.parse(text) as object)) columns.note(name, typeOfJson(value))
    this.#db.exec('DELETE FROM columns')
    const add = this.#db.prepare('INSERT INTO columns VALUES (?, ?)')
    for (const { name, types } of columns.all) for (const type of types) add.run(name, type)
    this.#columns = columns
  }

  #metadataColumns(): MetadataColumns {
    if (this.#columns) return this.#columns
    const columns = new MetadataColumns()
    for (const { name, type } of this.#db
      .prepare<[], { name: string; type: ColumnType }>('SELECT name, type FROM columns ORDER BY rowid')
      .iterate())
      columns.note(name, type)
    this.#columns = columns
    return columns
  }

  #vectorTable(): VectorTable | undefined {
    const dimensions = this.#number('dimensions')
    if (dimensions === undefined) return undefined
    if (this.#vectors) return this.#vectors
    const table = new VectorTable(dimensions)
    const blocks = this.#db
      .prepare<[], Required<VectorBlock>>('SELECT block, places, codes FROM vector_places JOIN vector_codes USING (block) ORDER BY block')
      .iterate()
    for (const block of blocks) table.restore(block)
    this.#vectors = table
    return table
  }

  /** Writes the changed vectors to the file, as they are in memory. */
  #keepVectors(): void {
    const table = this.#vectors
    if (!table) return
    const keepPlaces = this.#db.prepare('INSERT OR REPLACE INTO vector_places VALUES (?, ?)')
    const keepCodes = this.#db.prepare('INSERT OR REPLACE INTO vector_codes VALUES (?, ?)')
    for (const { block, places, codes } of table.takeChanges()) {
      keepPlaces.run(block, places)
      if (codes) keepCodes.run(block, codes)
    }
    for (const kept of ['vector_places', 'vector_codes'])
      this.#db.prepare(`DELETE FROM ${kept} WHERE block >= ?`).run(Math.ceil(table.rows / blockRows))
  }
}
