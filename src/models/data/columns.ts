import { wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'

const quoted = (columns: readonly { name: string }[]): string => columns.map(({ name }) => `"${name}"`).join(', ')

const meant = (name: string, columns: readonly { name: string }[]): string =>
  `Did you mean "${nearest(
    name,
    columns.map((column) => column.name),
  )}"?`

/** The column with a name: exactly as written, or else compared without case, as DuckDB does. */
export const columnNamed = <Column extends { name: string }>(columns: readonly Column[], name: string): Column | undefined =>
  columns.find((column) => column.name === name) ?? columns.find((column) => column.name.toLowerCase() === name.toLowerCase())

/** The column with a name, for a purpose such as `to predict`. @throws Problem that lists the known columns */
export const neededColumn = <Column extends { name: string }>(columns: readonly Column[], name: string, what: string): Column => {
  const found = columnNamed(columns, name)
  if (found) return found
  throw wrong(`The training data has no column "${name}" ${what}; its columns are ${quoted(columns)}`, meant(name, columns))
}

/** The columns that an option names, without the target. @throws Problem for the target's name or an unknown one */
export const optionColumns = <Column extends { name: string }>(
  option: string,
  names: readonly string[],
  columns: readonly Column[],
  target: { name: string },
): Column[] =>
  names.map((name) => {
    const found = columnNamed(columns, name)
    if (!found)
      throw wrong(
        `${option} names "${name}", and the training data has no such column; its columns are ${quoted(columns)}`,
        meant(name, columns),
      )
    if (found.name === target.name) throw wrong(`${option} names "${found.name}", which is the column to predict`)
    return found
  })
