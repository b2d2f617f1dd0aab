import { rm } from 'node:fs/promises'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { Problem } from '../../../basics/errors.js'
import { sqlName, sqlString } from '../../../files/tables/staged-table.js'
import { writeParquet, type ParquetFile } from '../../../files/tables/parquet-writer.js'
import { footerSize, refuseLarge, TableTooLarge, textSize } from '../../../files/tables/table-size.js'
import { limits } from '../../../basics/limits.js'
import type { AstNode } from '../ast/json.js'
import { columnHint, named } from '../../../dialect/names.js'
import { preparedColumns } from '../duckdb-connection/duckdb-connection.js'
import { withText } from '../session/sources.js'
import { fittedValue } from './fitted-value.js'
import { checkNames } from '../../../dialect/column-names.js'
import type { TableBefore } from '../../contract/select-purpose.js'

/** A query that DuckDB runs, and the destination of its rows. */
type Job = {
  connection: DuckDBConnection
  prepared: DuckDBPreparedStatement
  text: string
  /** The tree that the text was printed from. */
  tree: AstNode | undefined
  path: string
  after: TableBefore | undefined
  /** The path of a blob. */
  blobFile: (sha: string) => Promise<string>
}

type NamedColumn = { name: string; type: string }

const wrongTable = (detail: string, hint: string): Problem => new Problem('query_failed', 'The table cannot be written', detail, { hint })

/** Throws the error. If the table is too large, the error is a problem of the statement. */
const fail = (error: unknown): never => {
  if (!(error instanceof TableTooLarge)) throw error
  const { limit, unit } = error
  throw new Problem('query_limit', 'The table is too large', `The table would have more than ${limits[limit]} ${unit} (${limit})`, {
    hint: 'Keep fewer rows or columns, or keep the query instead: CREATE VIEW name AS (SELECT …).',
    limit,
  })
}

/** The words of a type at any depth, and the names and texts in it, which have quotes: `STRUCT("INTERVAL" INTEGER)`. */
const typeParts = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\w+(?: WITH TIME ZONE)?/g

/** Types whose values Parquet would change. */
const lossy = new Set(['INTERVAL', 'TIME WITH TIME ZONE', 'UNION'])

const keptColumns = (prepared: DuckDBPreparedStatement): NamedColumn[] => {
  const columns = preparedColumns(prepared)
  for (const { name, type } of columns)
    if (type.match(typeParts)?.some((part) => lossy.has(part)))
      throw wrongTable(`Column "${name}" has the type ${type}, which a file does not keep`, 'CAST it to VARCHAR.')
  return columns
}

// Parquet has no integer of 128 bits and would store a DOUBLE. Sums of integers have that type.
const keptType = (type: string): string => type.replace(typeParts, (part) => (/^U?HUGEINT$/.test(part) ? 'DECIMAL(38,0)' : part))

const kept = ({ name, type }: NamedColumn): string => {
  const column = sqlName(name)
  return keptType(type) === type ? column : `CAST(${column} AS ${keptType(type)}) AS ${column}`
}

const newTable = (text: string, columns: readonly NamedColumn[]): string => {
  checkNames(columns, 'table')
  return `SELECT ${columns.map(kept).join(', ')} FROM (${text}) AS made`
}

const columnNamed = (name: string, columns: readonly NamedColumn[]): NamedColumn => {
  const column = named(columns, name)
  if (column) return column
  const known = columns.map((each) => each.name)
  throw new Problem('bad_statement', 'No such column', `The table has no column "${name}"`, {
    hint: columnHint(name, known, (like) => `"${like}"`),
  })
}

/** The columns that get values, in the order of the values. */
const targets = ({ columns, into }: TableBefore, given: number): readonly NamedColumn[] => {
  const chosen = into?.map((name) => columnNamed(name, columns)) ?? columns
  checkNames(chosen, 'list')
  if (chosen.length === given) return chosen
  throw wrongTable(
    `${given} ${given === 1 ? 'value is' : 'values are'} given for ${chosen.length} ${chosen.length === 1 ? 'column' : 'columns'}`,
    `The columns are ${chosen.map(({ name }) => name).join(', ')}.`,
  )
}

const longerTable = (text: string, given: readonly NamedColumn[], before: TableBefore, path: string): string => {
  const chosen = targets(before, given.length)
  const items = before.columns.map((column) => fittedValue(column, given[chosen.indexOf(column)]?.type))
  const names = chosen.map(({ name }) => sqlName(name)).join(', ')
  return `SELECT * FROM read_parquet(${sqlString(path)}) UNION ALL SELECT ${items.join(', ')} FROM (${text}) AS given(${names})`
}

/** Writes a query's rows to a Parquet file. The file is complete and on the disk when this resolves. A failure leaves no file behind. */
export const writeTable = async ({ connection, prepared, text, tree, path, after, blobFile }: Job): Promise<ParquetFile> => {
  try {
    const columns = keptColumns(prepared)
    refuseLarge({ columns: columns.length })
    const select = after ? longerTable(text, columns, after, await blobFile(after.content)) : newTable(text, columns)
    const limited = `SELECT * FROM (${select}) AS all_rows LIMIT ${limits.tableMaxRows + 1}`
    const shape = { columnCount: after?.columns.length ?? columns.length }
    const before = Buffer.byteLength(`COPY (${limited.slice(0, limited.indexOf(text))}`)
    const written = await withText(text, tree, () => writeParquet(connection, limited, shape, path).catch(fail), before)
    refuseLarge(await footerSize(connection, path))
    refuseLarge(await textSize(connection, path, written.columns))
    return written
  } catch (error) {
    await rm(path, { force: true })
    return fail(error)
  }
}
