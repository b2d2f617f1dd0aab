import { LRUCache } from 'lru-cache'
import { foldName, type Json } from '../../../events/common.js'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { noComments, type TableComments } from '../../connections/contract/requests.js'
import { quoteName } from '../../dialect/strings.js'
import type { Resource } from '../../log/contract/log.js'
import { TableLinks } from './link.js'
import type { ScopeTable } from '../scope/tables-in.js'
import type { Queries } from '../queries/queries.js'

/** `values` are all values of a column that has few; `some_values` are those of the first rows, and there may be others. */
export type DescribedColumn = {
  name: string
  type: string
  values: readonly string[]
  some_values?: readonly string[]
  comment?: string
}

/** What a language model is told of a table: what was written down about it, its columns, the values of those that have few, and its first rows. */
export type DescribedTable = {
  name: string
  columns: readonly DescribedColumn[]
  rows: readonly (readonly Json[])[]
  comment?: string
  problem?: string
}

/** What a connected database says of one of its tables. @throws Problem of the database */
export type ReadComments = (connection: Resource<'database'>, table: string, schema?: string) => Promise<TableComments>

const fewValues = 12
const valueMaxChars = 40
const shownRows = 3
const leastRows = 8
const askedColumns = 20

/** The full name of a table as it is written in SQL. @example nameInSql(['files', 'open orders']) // 'files."open orders"' */
export const nameInSql = (path: readonly string[]): string =>
  path.map((part) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(part) ? part : quoteName(part))).join('.')

const isText = (type: string): boolean => /^(?:VARCHAR|ENUM|BOOLEAN)/i.test(type)

/** The values of a column in some rows, where they are few and each is short. */
const valuesIn = (rows: readonly (readonly Json[])[], column: number): string[] => {
  const values = new Set<string>()
  for (const row of rows) {
    const value = row[column]
    if (value === null || value === undefined) continue
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (text.length > valueMaxChars || values.size > fewValues) return []
    values.add(text)
  }
  // As many values as rows tell nothing of the next row.
  return values.size <= fewValues && (rows.length >= leastRows || values.size * 2 <= rows.length) ? [...values].sort() : []
}

/** All values of the columns of a file that have few; reading one ends with the first value too many. */
const valuesOfFile = async (
  table: ScopeTable,
  columns: readonly { name: string; type: string }[],
  queries: Queries,
): Promise<Map<string, string[]>> => {
  const asked = columns.filter(({ type }) => isText(type)).slice(0, askedColumns)
  if (asked.length === 0) return new Map()
  const from = nameInSql(table.path)
  const items = asked.map(({ name }) => {
    const column = quoteName(name)
    return `(SELECT list(v ORDER BY v) FROM (SELECT DISTINCT CAST(${column} AS VARCHAR) AS v FROM ${from} WHERE ${column} IS NOT NULL LIMIT ${fewValues + 1}) AS d)`
  })
  const { rows } = await queries.run({
    sql: `SELECT ${items.join(', ')}`,
    ...{ db: 'files', only: [table.path], maxRows: 1, timeoutMs: limits.agentSampleTimeoutMs },
  })
  const found = asked.map(({ name }, i) => {
    const values = rows[0]?.[i]
    const texts = Array.isArray(values) ? values.map(String) : []
    return [name, texts.length <= fewValues && texts.every((text) => text.length <= valueMaxChars) ? texts : []] as const
  })
  return new Map(found)
}

/** The comments on a table. It is described without them where they cannot be read. */
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
  const exact = table.kind === 'file' ? await valuesOfFile(table, columns, queries) : undefined
  return {
    name,
    ...(comments.table !== null && { comment: comments.table }),
    columns: columns.map((column, i) => {
      const comment = commentOf.get(foldName(column.name))
      const said = comment !== undefined && { comment }
      if (exact) return { ...column, values: exact.get(column.name) ?? [], ...said }
      const seen = isText(column.type) ? valuesIn(rows, i) : []
      // Behind the rows that were read there may be other values.
      return cut && seen.length > 0 ? { ...column, values: [], some_values: seen, ...said } : { ...column, values: seen, ...said }
    }),
    rows: rows.slice(0, shownRows),
  }
}

/**
 * Describes tables for language models. A description is kept for a while, for all agents that may read its table; who asks for it while it
 * is read shares the reading.
 */
export class TableDescriptions {
  readonly #kept = new LRUCache<string, DescribedTable>({ max: limits.agentDescriptionsKept, ttl: limits.agentDescriptionMaxAgeMs })
  readonly #coming = new Map<string, Promise<DescribedTable>>()
  readonly links = new TableLinks()

  constructor(private readonly readComments: ReadComments) {}

  /**
   * The description of a table; where it cannot be read, it says why. `moment` tells apart what is read at different times. A connected
   * database is waited for until `patience` aborts; what it says later is kept for others.
   */
  async of(table: ScopeTable, queries: Queries, moment: string, patience?: AbortSignal): Promise<DescribedTable> {
    const key = JSON.stringify([table.path, table.state, moment])
    const known = this.#kept.get(key)
    if (known) return known
    try {
      const coming = this.#shared(key, table, queries)
      return await (patience && table.connection ? unlessAborted(coming, patience, () => tooSlow(nameInSql(table.path))) : coming)
    } catch (error) {
      // An answer without any table would be told as one of what there is.
      if (!isProblem(error) || error.code === 'analytics_unavailable') throw error
      const columns = (table.columns ?? []).map((column) => ({ ...column, values: [] }))
      return { name: nameInSql(table.path), columns, rows: [], problem: error.title }
    }
  }

  async #shared(key: string, table: ScopeTable, queries: Queries): Promise<DescribedTable> {
    for (let coming = this.#coming.get(key); coming; coming = this.#coming.get(key)) {
      const described = await coming.catch(ifRefused)
      // The question that began to read it may have been given up.
      if (described) return described
    }
    const coming = this.#read(key, table, queries)
    this.#coming.set(key, coming)
    return coming
  }

  async #read(key: string, table: ScopeTable, queries: Queries): Promise<DescribedTable> {
    try {
      const described = await read(table, queries, this.readComments)
      this.#kept.set(key, described)
      return described
    } finally {
      this.#coming.delete(key)
    }
  }
}

/** A connected database leaves no time for the language model. */
export const tooSlow = (what: string): Problem =>
  new Problem('query_limit', 'It did not answer in time', `${what} did not answer within half of the time that the answer may take`, {
    hint: 'The timeout of the agent, in seconds, may be as long as agentAnswerTimeoutMs.',
  })

/** Hands on a refusal of what is read, and nothing else that ended the reading. */
const ifRefused = (error: unknown): undefined => {
  if (isProblem(error)) throw error
}
