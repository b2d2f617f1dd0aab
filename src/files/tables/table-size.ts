import { stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { limits } from '../../basics/limits.js'
import { sqlName, sqlString } from './staged-table.js'

/** The size of a table. A cell is a single value, or an element of a list; `textBytes` is the total length of all texts. */
export type TableSize = { rows: number; columns: number; cells: number; textBytes: number; bytes: number }

const bounds = {
  rows: { limit: 'tableMaxRows', unit: 'rows' },
  columns: { limit: 'fileMaxColumns', unit: 'columns' },
  cells: { limit: 'tableMaxCells', unit: 'cells' },
  textBytes: { limit: 'tableMaxTextBytes', unit: 'bytes of text' },
  bytes: { limit: 'tableMaxBytes', unit: 'bytes as Parquet' },
} as const

export type TableLimit = (typeof bounds)[keyof TableSize]['limit']

/** A table that exceeds a limit. The caller says what to do about it. */
export class TableTooLarge extends Error {
  constructor(
    readonly limit: TableLimit,
    readonly unit: string,
  ) {
    super(`The table has more than ${limits[limit]} ${unit}.`)
    this.name = 'TableTooLarge'
  }
}

/**
 * Refuses a table by the part of its size that is known so far. The limits are the same for tables from files of any format and from
 * statements.
 *
 * @example refuseLarge({ rows: 20_000_000 }) // throws TableTooLarge: more than 10000000 rows
 * @throws TableTooLarge
 */
export const refuseLarge = (size: Partial<TableSize>): void => {
  for (const [part, { limit, unit }] of Object.entries(bounds) as [keyof TableSize, (typeof bounds)[keyof TableSize]][])
    if ((size[part] ?? 0) > limits[limit]) throw new TableTooLarge(limit, unit)
}

const single = async (connection: DuckDBConnection, query: string): Promise<number> =>
  Number((await connection.runAndReadAll(query)).getRows()[0]?.[0] ?? 0)

/** The size by the footer of a Parquet file, without reading its pages. */
export const footerSize = async (connection: DuckDBConnection, path: string): Promise<Pick<TableSize, 'rows' | 'cells'>> => ({
  rows: await single(connection, `SELECT sum(num_rows) FROM parquet_file_metadata(${sqlString(path)})`),
  cells: await single(connection, `SELECT sum(num_values) FROM parquet_metadata(${sqlString(path)})`),
})

/** Types that hold texts or bytes, alone or within lists and structures. */
const holdsText = /VARCHAR|BLOB|JSON|ENUM|BIT|GEOMETRY/

const lengthOf = (name: string, type: string): string[] => {
  if (!holdsText.test(type)) return []
  if (type === 'BLOB') return [`octet_length(${sqlName(name)})`]
  return [type === 'VARCHAR' ? `strlen(${sqlName(name)})` : `strlen(CAST(${sqlName(name)} AS VARCHAR))`]
}

/** The total length of all texts of a Parquet file. A dictionary may hold one long text for millions of rows, so the texts are read. */
export const textSize = async (
  connection: DuckDBConnection,
  path: string,
  columns: readonly { name: string; type: string }[],
): Promise<Pick<TableSize, 'textBytes'>> => {
  const lengths = columns.flatMap(({ name, type }) => lengthOf(name, type))
  if (lengths.length === 0) return { textBytes: 0 }
  // A sum of a thousand terms would be nested more deeply than DuckDB allows.
  const sums = lengths.map((length) => `coalesce(sum(${length}), 0)`).join(', ')
  return { textBytes: await single(connection, `SELECT CAST(list_sum([${sums}]) AS DOUBLE) FROM read_parquet(${sqlString(path)})`) }
}

/**
 * Watches a file that a connection writes, and interrupts the write when the file is too large: a limit of rows alone does not bound it.
 */
export class SizeWatch {
  #isTooLarge = false
  readonly #timer: NodeJS.Timeout

  constructor(connection: DuckDBConnection, path: string) {
    this.#timer = setInterval(() => {
      void stat(path).then(
        ({ size }) => {
          if (size <= limits.tableMaxBytes) return
          this.#isTooLarge = true
          connection.interrupt()
        },
        () => undefined,
      )
    }, 100)
  }

  /** The reason why the write failed, if it was interrupted here. */
  reason(error: unknown): unknown {
    return this.#isTooLarge ? new TableTooLarge(bounds.bytes.limit, bounds.bytes.unit) : error
  }

  end(): void {
    clearInterval(this.#timer)
  }
}
