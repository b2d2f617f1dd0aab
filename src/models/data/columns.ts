import { wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import type { JsonObject } from '../../../events/common.js'
import { columnTypeOf } from './values.js'

const quoted = (columns: readonly { name: string }[]): string => columns.map(({ name }) => `"${name}"`).join(', ')

const meant = (name: string, columns: readonly { name: string }[]): string =>
  `Did you mean "${nearest(
    name,
    columns.map((column) => column.name),
  )}"?`

/** The column with a name: the exact name first, otherwise compared without case, as in DuckDB. */
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

type Column = { name: string; type: string }

/** The engine options whose values are column names. */
const namingOptions = ['order_by', 'group_by', 'time_column', 'include', 'exclude'] as const

/** Ignores values that are not names: the engine refuses them. */
const namesIn = (value: JsonObject[string] | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string')

/**
 * Checks that the target of a training and the columns named in its options are among the columns of its query. Types are DuckDB's names.
 *
 * @example checkNamedColumns([{ name: 'rent', type: 'DOUBLE' }], 'rnet', {}) // throws: Did you mean "rent"?
 * @throws Problem `wrong_arguments` with the nearest name
 */
export const checkNamedColumns = (columns: readonly Column[], target: string, options: JsonObject): void => {
  const found = neededColumn(columns, target, 'to predict')
  if (columnTypeOf(found.type) === undefined)
    throw wrong(`"${found.name}" is of the type ${found.type}, which cannot be predicted`, 'CAST it to a number or a text in the query.')
  for (const option of namingOptions) optionColumns(option, namesIn(options[option]), columns, found)
}
