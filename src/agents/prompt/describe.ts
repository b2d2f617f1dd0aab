import { LRUCache } from 'lru-cache'
import { foldName, type Json } from '../../../events/common.js'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { noComments, type TableComments } from '../../connections/contract/requests.js'
import { backQuoteName, nameText } from '../../dialect/strings.js'
import type { Resource } from '../../log/contract/log.js'
import { columnsOf, type ListColumns } from './columns-of.js'
import { TableLinks } from './schema-linking.js'
import type { ScopeTable } from '../scope/tables-in.js'
import type { Queries, QueryRows } from '../queries/queries.js'

/**
 * `values` has all values of a column with few of them, numbers in digits; `some_values` has the values of the first rows, and there may be
 * others.
 */
export type DescribedColumn = {
  name: string
  type: string
  values: readonly string[]
  some_values?: readonly string[]
  comment?: string
}

/**
 * The description of a table for a language model: the comments on it, its columns, the values of columns with few of them, and its first
 * rows. `late` says why the rows are missing if they came too late, and `problem` why the table cannot be read.
 */
export type DescribedTable = {
  name: string
  columns: readonly DescribedColumn[]
  rows: readonly (readonly Json[])[]
  comment?: string
  late?: string
  problem?: string
}

/** Whether nothing of a table could be read: its database is away, or answers neither with rows nor with columns. */
export const isUnread = ({ problem, late, columns }: DescribedTable): boolean =>
  problem !== undefined || (late !== undefined && columns.length === 0)

/** The description that a connected database gives of one of its tables. @throws Problem of the database */
export type ReadComments = (connection: Resource<'database'>, table: string, schema?: string) => Promise<TableComments>

const fewValues = 12
const valueMaxChars = 40
const shownRows = 3
const leastRows = 8
const askedColumns = 20

/** The full name of a table as it is written in SQL. @example nameInSql(['files', 'open orders']) // 'files."open orders"' */
export const nameInSql = (path: readonly string[]): string => path.map(nameText).join('.')

const isText = (type: string): boolean => /^(?:VARCHAR|ENUM|BOOLEAN)/i.test(type)

/** Whether a type has whole numbers: a column with few of them often has codes. */
export const isWhole = (type: string): boolean => /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/i.test(type)

type Rows = readonly (readonly Json[])[]

/** The codes among the values of a column. If every row has another number, the column tells rows apart, and there are none. */
const codesOf = (values: readonly string[], rows: Rows, column: number): string[] => {
  const given = rows.filter((row) => row[column] !== null && row[column] !== undefined).length
  return values.length < given ? values.toSorted((a, b) => Number(a) - Number(b)) : []
}

/** The values of a column in some rows, if they are few and short. */
const valuesIn = (rows: Rows, column: number): string[] => {
  const values = new Set<string>()
  for (const row of rows) {
    const value = row[column]
    if (value === null || value === undefined) continue
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (text.length > valueMaxChars || values.size > fewValues) return []
    values.add(text)
  }
  // If every row has another value, the values say nothing about the next row.
  return values.size <= fewValues && (rows.length >= leastRows || values.size * 2 <= rows.length) ? [...values].sort() : []
}

/** All values of those columns of a file that have few. The reading of a column ends at the first value beyond the limit. */
const valuesOfFile = async (
  table: ScopeTable,
  { columns, rows: first }: Pick<QueryRows, 'columns' | 'rows'>,
  queries: Queries,
): Promise<Map<string, string[]>> => {
  const placed = columns.map(({ name, type }, place) => ({ name, type, place }))
  const asked = [...placed.filter(({ type }) => isText(type)), ...placed.filter(({ type }) => isWhole(type))].slice(0, askedColumns)
  if (asked.length === 0) return new Map()
  const from = nameInSql(table.path)
  const items = asked.map(({ name }) => {
    const column = backQuoteName(name)
    return `(SELECT list(v ORDER BY v) FROM (SELECT DISTINCT CAST(${column} AS VARCHAR) AS v FROM ${from} WHERE ${column} IS NOT NULL LIMIT ${fewValues + 1}) AS d)`
  })
  const { rows } = await queries.run({
    sql: `SELECT ${items.join(', ')}`,
    ...{ db: 'files', only: [table.path], maxRows: 1, timeoutMs: limits.agentSampleTimeoutMs },
  })
  const found = asked.map(({ name, type, place }, i) => {
    const values = rows[0]?.[i]
    const texts = Array.isArray(values) ? values.map(String) : []
    const few = texts.length <= fewValues && texts.every((text) => text.length <= valueMaxChars) ? texts : []
    return [name, isWhole(type) ? codesOf(few, first, place) : few] as const
  })
  return new Map(found)
}

/** The comments on a table. If they cannot be read, the table is described without them. */
const commentsOn = async ({ connection, path }: ScopeTable, readComments: ReadComments): Promise<TableComments> => {
  const [, ...names] = path
  const table = names.at(-1)
  if (!connection || table === undefined) return noComments
  return readComments(connection, table, names.length > 1 ? names[0] : undefined).catch((error: unknown) => {
    if (!isProblem(error)) throw error
    return noComments
  })
}

const read = async (table: ScopeTable, queries: Queries, readComments: ReadComments): Promise<DescribedTable> => {
  const name = nameInSql(table.path)
  const bounds = { db: table.path[0] ?? '', only: [table.path], timeoutMs: limits.agentSampleTimeoutMs }
  const { columns, rows, cut } = await queries.run({ ...bounds, sql: `SELECT * FROM ${name}`, maxRows: limits.agentSampleMaxRows })
  const comments = await commentsOn(table, readComments)
  const commentOf = new Map(comments.columns.map((column) => [foldName(column.name), column.comment]))
  const exact = table.kind === 'file' ? await valuesOfFile(table, { columns, rows }, queries).catch(ifLate) : undefined
  return {
    name,
    ...(comments.table !== null && { comment: comments.table }),
    columns: columns.map((column, i) => {
      const comment = commentOf.get(foldName(column.name))
      const said = comment !== undefined && { comment }
      if (exact) return { ...column, values: exact.get(column.name) ?? [], ...said }
      const few = isText(column.type) || isWhole(column.type) ? valuesIn(rows, i) : []
      const seen = isWhole(column.type) ? codesOf(few, rows, i) : few
      // The rows that were not read may have other values.
      return cut && seen.length > 0 ? { ...column, values: [], some_values: seen, ...said } : { ...column, values: seen, ...said }
    }),
    rows: rows.slice(0, shownRows),
  }
}

/** A table whose rows came too late: a query may take longer than a description. */
const readLate = async (table: ScopeTable, late: string, queries: Queries, listColumns: ListColumns): Promise<DescribedTable> => {
  const name = nameInSql(table.path)
  const columns = (await columnsOf(table, name, queries, listColumns).catch(ifLate)) ?? []
  return { name, columns: columns.map(({ name: column, type }) => ({ name: column, type, values: [] })), rows: [], late }
}

/**
 * Describes tables for language models. A description is kept for a while, for all agents that may read its table. Callers that ask for it
 * at the same time share one reading.
 */
export class TableDescriptions {
  readonly #kept = new LRUCache<string, DescribedTable>({ max: limits.agentDescriptionsKept, ttl: limits.agentDescriptionMaxAgeMs })
  readonly #coming = new Map<string, Promise<DescribedTable>>()
  readonly links = new TableLinks()

  constructor(
    private readonly readComments: ReadComments,
    private readonly listColumns: ListColumns,
  ) {}

  /**
   * The description of a table; it gives the reason if the table cannot be read. `moment` distinguishes readings of different times. It
   * waits for a connected database until `patience` aborts; a later answer is kept for other callers.
   */
  async of(table: ScopeTable, queries: Queries, moment: string, patience?: AbortSignal): Promise<DescribedTable> {
    const key = JSON.stringify([table.path, table.state, moment])
    const known = this.#kept.get(key)
    if (known) return known
    try {
      // A database that was too slow for the tables before gets no more questions at once.
      if (patience?.aborted === true && table.connection && !this.#coming.has(key)) throw tooSlow(nameInSql(table.path))
      const coming = this.#shared(key, table, queries)
      return await (patience && table.connection ? unlessAborted(coming, patience, () => tooSlow(nameInSql(table.path))) : coming)
    } catch (error) {
      // Without this, a language model would answer as if there were no tables.
      if (!isProblem(error) || error.code === 'analytics_unavailable') throw error
      const columns = (table.columns ?? []).map((column) => ({ ...column, values: [] }))
      return { name: nameInSql(table.path), columns, rows: [], problem: error.title }
    }
  }

  async #shared(key: string, table: ScopeTable, queries: Queries): Promise<DescribedTable> {
    for (let coming = this.#coming.get(key); coming; coming = this.#coming.get(key)) {
      const described = await coming.catch(ifRefused)
      // The client of the question that started the reading may have left.
      if (described) return described
    }
    const coming = this.#read(key, table, queries)
    this.#coming.set(key, coming)
    return coming
  }

  async #read(key: string, table: ScopeTable, queries: Queries): Promise<DescribedTable> {
    try {
      const described = await read(table, queries, this.readComments).catch((error: unknown) => {
        ifLate(error)
        return readLate(table, (error as Problem).title, queries, this.listColumns)
      })
      this.#kept.set(key, described)
      this.links.learn(table, described.columns)
      return described
    } finally {
      this.#coming.delete(key)
    }
  }
}

/** The refusal to wait longer for a connected database, because the language model would have too little time left. */
export const tooSlow = (what: string): Problem =>
  new Problem('query_limit', 'It did not answer in time', `${what} did not answer within half of the time that the answer may take`, {
    hint: 'Give the agent a longer timeout, in seconds: it may be as long as agentAnswerMaxTimeoutMs.',
  })

/** Throws every error of a reading except a reached limit of its query. */
const ifLate = (error: unknown): undefined => {
  if (!isProblem(error) || error.code !== 'query_limit') throw error
}

/** Throws refusals by the table's source, but no timeout of an answer: the reading may have had the time limit of another answer. */
const ifRefused = (error: unknown): undefined => {
  if (isProblem(error) && error.code !== 'answer_timeout') throw error
}
