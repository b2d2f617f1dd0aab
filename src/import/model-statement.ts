import * as z from 'zod'
import { foldName, jsonObject, type Json } from '../../events/common.js'
import { tokensIn } from '../dialect/lexer.js'
import { isNameLike, isSymbol, isWord } from '../dialect/tokens.js'
import type { ModelRow } from './records.js'

/** Quotes a name for the statements of both services; undefined if it cannot be quoted. */
const quoted = (name: string): string | undefined => (name.includes('`') ? undefined : `\`${name}\``)

const names = z.union([z.string().transform((name) => [name]), z.array(z.string())])
const optionsSchema = z.looseObject({
  target: names.nullish(),
  using: jsonObject.nullish(),
  timeseries_settings: z
    .looseObject({ order_by: names.nullish(), group_by: names.nullish(), window: z.number().nullish(), horizon: z.number().nullish() })
    .nullish(),
})

const optionsOf = ({ training_options: options }: ModelRow) => {
  try {
    return optionsSchema.safeParse(typeof options === 'string' ? JSON.parse(options) : options).data
  } catch {
    return undefined
  }
}

/** The tables after FROM and JOIN in a query; undefined if it names their databases or cannot be read. */
const bareTables = (query: string): string[] | undefined => {
  const tokens = tokensIn(query) ?? []
  const places = tokens.flatMap((token, i) => (isWord(token, 'FROM', 'JOIN') && !isSymbol(tokens[i + 1], '(') ? [i + 1] : []))
  const tables = places.map((at) => tokens[at]).filter(isNameLike)
  const isQualified = places.some((at) => isSymbol(tokens[at + 1], '.'))
  return isQualified || tables.length === 0 ? undefined : tables.map(({ value }) => value)
}

/** The databases that may hold a model's training rows, with the names of their tables. The most probable database is first. */
export type Databases = ReadonlyMap<string, ReadonlySet<string>>

/**
 * The database of a model's query, which MindsDB does not report: the first one that has all tables of the query. An empty text
 * if the query names its databases itself; undefined if it is unknown.
 *
 * @example databaseOf('SELECT * FROM homes', new Map([['files', new Set(['homes'])]])) // 'files'
 */
export const databaseOf = (query: string, databases: Databases): string | undefined => {
  const tables = bareTables(query)
  if (!tables) return ''
  for (const [database, has] of databases) if (tables.every((table) => has.has(foldName(table)))) return database
  return undefined
}

/** Both services accept a text in double quotes, and JSON can write every text in this form. */
const value = (one: Json): string => JSON.stringify(one)

/**
 * Rebuilds the CREATE MODEL statement of a model from the information that MindsDB gives about it.
 *
 * @example modelStatement(row, 'files') // 'CREATE MODEL `shop`.`rent` FROM `files` (SELECT * FROM homes) PREDICT `price`'
 * @returns undefined if this information is not enough
 */
export const modelStatement = (row: ModelRow, database: string): string | undefined => {
  const options = optionsOf(row)
  const targets = options?.target ?? (typeof row.predict === 'string' ? [row.predict] : [])
  const { order_by, group_by, window, horizon } = options?.timeseries_settings ?? {}
  const { engine: _, ...using } = options?.using ?? {}
  const said = { ...(typeof row.engine === 'string' && { engine: row.engine }), ...using }
  const list = (columns: readonly string[]): string => columns.map((column) => quoted(column) ?? '').join(', ')
  const columns = [...targets, ...(order_by ?? []), ...(group_by ?? []), ...Object.keys(said), row.project, row.name, database]
  if (!options || targets.length === 0 || columns.some((name) => quoted(name) === undefined)) return undefined
  const query = row.select_data_query?.trim() ?? ''
  return [
    `CREATE MODEL ${list([row.project])}.${list([row.name])}`,
    ...(query === '' ? [] : [`FROM ${database === '' ? '' : `${list([database])} `}(${query})`]),
    `PREDICT ${list(targets)}`,
    ...(order_by && order_by.length > 0 ? [`ORDER BY ${list(order_by)}`] : []),
    ...(group_by && group_by.length > 0 ? [`GROUP BY ${list(group_by)}`] : []),
    ...(typeof window === 'number' ? [`WINDOW ${window}`] : []),
    ...(typeof horizon === 'number' ? [`HORIZON ${horizon}`] : []),
    ...(Object.keys(said).length > 0 ? [`USING ${Object.entries(said).map(([key, one]) => `${list([key])} = ${value(one)}`).join(', ')}`] : []), // prettier-ignore
  ].join(' ')
}
