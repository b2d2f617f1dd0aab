import type { JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { neededColumn, optionColumns } from './columns.js'
import { columnTypeOf } from './values.js'

type Column = { name: string; type: string }

/** The options of engines whose values name columns. */
const namingOptions = ['order_by', 'group_by', 'time_column', 'include', 'exclude'] as const

/** The engine refuses values that are not names. */
const namesIn = (value: JsonObject[string] | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string')

/**
 * Checks the target of a training, and the columns that its options name, against the columns that its query gives, with
 * DuckDB's names of their types.
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
