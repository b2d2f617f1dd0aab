/** Room: the table of an upload while it is made: its rows, its bad rows and its Parquet file. It imports only basics and files/types. */

import type { ColumnRename } from '../types/column-names.js'
import type { TypedColumn } from '../types/type-inference.js'

/**
 * A table whose checked rows are in a file: UTF-8, a known separator, every row with the fields of the first columns, quotes doubled inside
 * quotes. DuckDB reads it as text, and `sql` of each column converts the text to values.
 */
export type StagedTable = {
  path: string
  separator: string
  longestRowBytes: number
  meanRowBytes: number
  /**
   * In rows from CSV a quoted empty field is NULL too, since it cannot be told from a missing value. In rows from JSON only an absent field
   * is NULL; these rows begin with a dummy field, and end early where the later columns have no value.
   */
  form: 'csv' | 'json'
  columns: (TypedColumn & { name: string })[]
  rowCount: number
  warnings: string[]
  renamed: ColumnRename[]
}

/** Text from this program, such as a path, as a SQL string. */
export const sqlString = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A name as SQL writes it in double quotes. @example sqlName('a "b"') // '"a ""b"""' */
export const sqlName = (name: string): string => `"${name.replaceAll('"', '""')}"`

const minLineBytes = 2 * 1024 * 1024

/** The SELECT that returns the table's typed rows; `read_csv` detects nothing. */
export const selectStaged = (table: StagedTable): string => {
  const json = table.form === 'json'
  const texts = table.columns.map((_, index) => `'c${index}': 'VARCHAR'`)
  const source = (json ? [`'row': 'VARCHAR'`, ...texts] : texts).join(', ')
  const columns = table.columns.map(({ name, sql }, index) => `${sql(`c${index}`)} AS ${sqlName(name)}`).join(', ')
  return `SELECT ${columns} FROM read_csv(${sqlString(table.path)}, columns = {${source}},
    auto_detect = false, header = false, delim = ${sqlString(table.separator)}, quote = '"', escape = '"', comment = '', new_line = '\\n',
    nullstr = '', allow_quoted_nulls = ${!json}, null_padding = ${json}, strict_mode = true,
    ignore_errors = false, parallel = false, max_line_size = ${Math.max(minLineBytes, 2 * table.longestRowBytes)})`
}
