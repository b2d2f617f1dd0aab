import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { sha256 } from '../../../../events/stored/chain.js'
import { limits } from '../../../basics/limits.js'
import type { ListedColumns, Query, TableColumn, Tables } from '../../../connections/contract/requests.js'
import type { AnswerColumn } from '../../../connections/contract/types.js'
import { uniqueNames } from '../../../connections/contract/unique-names.js'
import { AnswerReader, appendAnswer, columnList } from '../../../connections/reader/read-answer.js'
import type { ChunkList, KnowledgeFacts, KnowledgeQuestion, KnowledgeAnswer, ListQuery } from '../../../knowledge/contract/contents.js'
import type { KnowledgeChunk, KnowledgeQuery } from '../../../knowledge/contract/search.js'
import type { AskServer } from '../../contract/connected.js'
import type { KnowledgeExchange } from '../../contract/select.js'
import { runOwn } from '../ast/checked-text.js'
import { perInstance } from '../duckdb-connection/duckdb-connection.js'

/**
 * Thrown when a query needs contents or search results of a knowledge base. The query gives up its place. The server asks the knowledge
 * base, and sends the query again with the answers.
 */
export class MissingKnowledge extends Error {
  constructor(readonly questions: readonly KnowledgeQuestion[]) {
    super('the query needs what a knowledge base finds')
  }
}

/** A table in this process with the answer of a connected database, and the text that was sent to the database. */
export type FetchedTable = { table: string; sent: string; rows: number }

let databases = 0

/** The columns of statements in other languages that had to run for them, by the hash of connection and statement. */
const runColumns = perInstance(() => new LRUCache<string, readonly AnswerColumn[]>({ max: 1_000, ttl: limits.connectionMetadataMaxAgeMs }))

/**
 * The answers of connected databases that one run of a statement has fetched. Each answer has its own database in memory. So a transaction
 * that began earlier sees it, and the end of a transaction does not remove it.
 *
 * @example
 * const answers = new FetchedAnswers(instance, ask, signal)
 * try { const { table } = await answers.fetch(stream, { scan: { table: 'homes', columns: ['id'] } }) } finally { await answers.drop() }
 */
export class FetchedAnswers {
  readonly #attached: string[] = []
  /** The columns of each table, by the name of its database. */
  readonly #made = new Map<string, readonly AnswerColumn[]>()
  /** Whether a table has fewer columns here than in its database. */
  isNarrowed = false
  /** Whether a statement was sent that may have changed something in its database. */
  mayHaveChanged = false
  readonly #columns = new Map<string, Promise<readonly TableColumn[]>>()
  readonly #fetched = new Map<string, Promise<FetchedTable>>()
  readonly #knowledge = new Map<string, Promise<KnowledgeAnswer>>()
  /** Whether knowledge bases are asked before the query runs, not during its run. */
  readonly #asksAhead: boolean
  #connection: Promise<DuckDBConnection> | undefined

  constructor(
    private readonly instance: DuckDBInstance,
    private readonly ask: AskServer,
    private readonly signal: AbortSignal,
    knowledge?: readonly KnowledgeExchange[],
  ) {
    for (const one of knowledge ?? []) this.#knowledge.set(JSON.stringify(one.question), Promise.resolve(one.answer))
    this.#asksAhead = knowledge !== undefined
  }

  /** The columns of a table in its database; with `soon`, a failure comes soon. @throws Problem not_found, and of the connection */
  columnsOf(connection: string, table: string, schema: string | undefined, soon = false): Promise<readonly TableColumn[]> {
    const key = JSON.stringify([connection, schema, table, soon])
    const known = this.#columns.get(key)
    if (known) return known
    const asked = this.ask({ connection, columnsOf: table, ...(schema !== undefined && { schema }), soon }).then((answer) => {
      if ('columns' in answer) return answer.columns
      throw new TypeError('the server answered something else than columns')
    })
    this.#columns.set(key, asked)
    return asked
  }

  /** The tables of a connected database; with `soon`, a failure comes soon. @throws Problem of the connection */
  async tablesOf(connection: string, soon = false): Promise<Tables> {
    const answer = await this.ask({ connection, tables: true, soon })
    if ('tables' in answer) return answer.tables
    throw new TypeError('the server answered something else than tables')
  }

  /** The columns of all tables of a connected database; with `soon`, a failure comes soon. @throws Problem of the connection */
  async everyColumn(connection: string, soon = false): Promise<ListedColumns> {
    const answer = await this.ask({ connection, everyColumn: true, soon })
    if ('everyColumn' in answer) return answer.everyColumn
    throw new TypeError('the server answered something else than columns')
  }

  /** The columns of a table that was made here, by the name of its database; undefined for any other name. */
  columnsIn(database: string): readonly AnswerColumn[] | undefined {
    return this.#made.get(database)
  }

  /** Whether a table has numbers that come as texts. */
  get hasNumberTexts(): boolean {
    return [...this.#made.values()].flat().some(({ numbers }) => numbers !== undefined)
  }

  /**
   * Fetches an answer. A repeated question gets the same answer as before, and a statement that writes runs once. `check` gets the columns
   * before the rows are read, and may refuse them.
   * @throws Problem of the database
   */
  fetch(connection: string, query: Query, check?: (columns: readonly AnswerColumn[]) => void): Promise<FetchedTable> {
    const question = JSON.stringify([connection, query])
    const known = this.#fetched.get(question)
    if (known) return known
    const fetched = this.#fetch(connection, query, check)
    this.#fetched.set(question, fetched)
    return fetched
  }

  /**
   * An empty table with the columns of a statement in the language of a database. The statement must not write, and runs only if its
   * columns cannot be known otherwise. With `soon`, a failure comes soon, and the columns may be a little older.
   * @throws Problem of the database
   */
  async planned(connection: string, native: string, soon: boolean): Promise<FetchedTable> {
    const answer = await this.ask({ connection, described: native, soon })
    if (!('described' in answer)) throw new TypeError('the server answered something else than columns')
    const columns = answer.described ?? (await this.#columnsOfRows(connection, native, soon))
    return { table: await this.empty(columns), sent: native, rows: 0 }
  }

  /** The columns of a statement that the database can only tell with its first rows. */
  async #columnsOfRows(connection: string, native: string, soon: boolean): Promise<readonly AnswerColumn[]> {
    const known = runColumns(this.instance)
    const key = sha256(JSON.stringify([connection, native])).toString('base64')
    const remembered = soon ? known.get(key) : undefined
    if (remembered) return remembered
    const signal = soon ? AbortSignal.any([this.signal, AbortSignal.timeout(limits.connectionListedWaitMs)]) : this.signal
    const answer = await this.#open(connection, { native }, signal)
    answer.close()
    known.set(key, answer.columns)
    return answer.columns
  }

  async #open(connection: string, query: Query, signal: AbortSignal): Promise<AnswerReader> {
    const answer = await this.ask({ connection, open: query })
    if (!('place' in answer)) throw new TypeError('the server answered something else than a place')
    this.mayHaveChanged ||= answer.changes === true
    return AnswerReader.open(answer.place, signal)
  }

  async #fetch(connection: string, query: Query, check?: (columns: readonly AnswerColumn[]) => void): Promise<FetchedTable> {
    const answer = await this.#open(connection, query, this.signal)
    try {
      check?.(answer.columns)
      const { name, table, into } = await this.#make(answer.columns)
      const appender = await into.createAppender('rows', 'main', name)
      const { rows } = await appendAnswer(answer, appender)
      appender.closeSync()
      return { table, sent: answer.sent, rows }
    } finally {
      answer.close()
    }
  }

  /**
   * The contents of a knowledge base. A query that is only planned asks for nothing else, and keeps its place.
   * @throws MissingKnowledge
   */
  async factsOf(knowledgeBase: string, isPlanned: boolean): Promise<KnowledgeFacts> {
    const question: KnowledgeQuestion = { knowledgeBase, facts: true }
    const [answer] = isPlanned ? [await this.#askKnowledge(question)] : await this.#needed([question])
    if (answer && 'facts' in answer) return answer.facts
    throw new TypeError('the server answered something else than facts')
  }

  /** The chunks that each of the searches finds. @throws MissingKnowledge; Problem of the knowledge base, or of its embedding model */
  async found(knowledgeBase: string, searches: readonly KnowledgeQuery[]): Promise<(readonly KnowledgeChunk[])[]> {
    const answer = await this.#needed(searches.map((search) => ({ knowledgeBase, search })))
    return answer.map((one) => {
      if ('found' in one) return one.found.chunks
      throw new TypeError('the server answered something else than chunks')
    })
  }

  /** Chunks without a search, in parts. They come only from the index, and they are too many to be sent with the query. */
  async listed(knowledgeBase: string, list: ListQuery): Promise<ChunkList> {
    const answer = await this.#askKnowledge({ knowledgeBase, list })
    if ('listed' in answer) return answer.listed
    throw new TypeError('the server answered something else than chunks')
  }

  /** The answers of knowledge bases. If an answer is missing, the query gives up its place, unless nobody would send it again. */
  async #needed(questions: readonly KnowledgeQuestion[]): Promise<KnowledgeAnswer[]> {
    const missing = this.#asksAhead ? questions.filter((question) => !this.#knowledge.has(JSON.stringify(question))) : []
    if (missing.length > 0) throw new MissingKnowledge(missing)
    const answer: KnowledgeAnswer[] = []
    for (const question of questions) answer.push(await this.#askKnowledge(question))
    return answer
  }

  /** A question that another attempt of the same run already asked gets the same answer. */
  #askKnowledge(question: KnowledgeQuestion): Promise<KnowledgeAnswer> {
    const key = JSON.stringify(question)
    const known = this.#knowledge.get(key)
    if (known) return known
    const asked = this.ask(question).then((answer) => {
      if ('facts' in answer || 'found' in answer || 'listed' in answer) return answer
      throw new TypeError('the server answered something of a connected database')
    })
    this.#knowledge.set(key, asked)
    return asked
  }

  /** Adds rows to a table of these columns. */
  async fill(table: string, columns: readonly AnswerColumn[], rows: readonly (readonly unknown[])[]): Promise<void> {
    if (rows.length === 0) return
    this.signal.throwIfAborted()
    const into = await (this.#connection ??= this.instance.connect())
    const cells = columns.map((_, i) => `c->>'$[${i}]'`)
    await runOwn(into, `INSERT INTO ${table} SELECT ${cells.join(', ')} FROM (SELECT unnest(CAST($1 AS JSON[])) AS c)`, [
      JSON.stringify(rows),
    ])
  }

  /** An empty table with these columns, under the names that an answer would give them. */
  async empty(columns: readonly AnswerColumn[]): Promise<string> {
    const names = uniqueNames(columns.map(({ name }) => name))
    return (await this.#make(columns.map((column, i) => ({ ...column, name: names[i] ?? column.name })))).table
  }

  /** Removes everything that was fetched. */
  async drop(): Promise<void> {
    const connection = await this.#connection
    if (!connection) return
    this.#connection = undefined
    for (const name of this.#attached.splice(0)) await runOwn(connection, `DETACH ${name}`)
    connection.closeSync()
  }

  async #make(columns: readonly AnswerColumn[]): Promise<{ name: string; table: string; into: DuckDBConnection }> {
    const into = await (this.#connection ??= this.instance.connect())
    const name = `ledger_connected_${++databases}`
    await runOwn(into, `ATTACH ':memory:' AS ${name}`)
    this.#attached.push(name)
    this.#made.set(name, columns)
    const table = `${name}.main.rows`
    await runOwn(into, `CREATE TABLE ${table} (${columnList(columns)})`)
    return { name, table, into }
  }
}
