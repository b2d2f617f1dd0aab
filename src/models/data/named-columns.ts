import type { JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { neededColumn, optionColumns } from './columns.js'
import { columnTypeOf } from './values.js'

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
