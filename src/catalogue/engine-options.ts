import * as z from 'zod'
import type { Json, JsonObject } from '../../events/common.js'
import { wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { nearest } from '../basics/nearest.js'
import { shown } from '../basics/shown.js'

/** The options of an engine in USING: the schema of each option's values. Its description says which values are expected. */
export type OptionsSchema = z.ZodObject<Record<string, z.ZodType>>

/** An option that may be missing; refusals show `expected` as its values. */
export const option = <Schema extends z.ZodType>(schema: Schema, expected: string) => schema.optional().describe(expected)

/** The options of a user: values by name. */
export type GivenOptions = Readonly<Record<string, Json | undefined>>

const columns = z.union([
  z
    .string()
    .min(1)
    .transform((name) => [name]),
  z.array(z.string().min(1)).min(1),
])

const mostSeconds = limits.trainingTimeoutMs / 1000

const ofTables = z.strictObject({
  confidence: option(z.number().min(0.001).max(0.999), 'a number between 0.001 and 0.999'),
  preset: option(z.enum(['fast', 'balanced', 'best']), "'fast', 'balanced' or 'best'"),
  time_limit: option(z.number().min(1).max(mostSeconds), `seconds, from 1 to ${mostSeconds}`),
  include: option(columns, 'a column, or a list of columns'),
  exclude: option(columns, 'a column, or a list of columns'),
  task: option(z.enum(['regression', 'classification']), "'regression' or 'classification'"),
  class_weights: option(
    z.union([z.literal('balanced'), z.record(z.string(), z.number().positive().max(1e6))]),
    '\'balanced\', or a weight for classes by their names: {"yes": 5}',
  ),
  group_by: option(columns, 'a column, or a list of columns'),
  time_column: option(z.string().min(1), 'a column'),
  max_rows: option(
    z.int().min(limits.trainingMinRows).max(limits.trainingMaxRows),
    `a whole number from ${limits.trainingMinRows} to ${limits.trainingMaxRows}`,
  ),
})

/** The options of engines that learn from tables. */
export const tableOptions = ofTables.refine(({ group_by, time_column }) => group_by === undefined || time_column === undefined, {
  message: 'group_by and time_column both divide the rows into folds: use only one of them',
})

/** The options of the engine that uses no column. */
export const constantOptions = ofTables.pick({ confidence: true, task: true, max_rows: true }).strict()

const namesOf = (schema: OptionsSchema): string[] => Object.keys(schema.shape)

/**
 * Reads the options of an engine, with defaults filled in. A `wrong_arguments` problem names an unknown option, or an option with a wrong
 * value, and says what is expected.
 *
 * @example readOptions('auto', tableOptions, { confidence: 0.8 }).confidence // .8
 */
export const readOptions = <Schema extends OptionsSchema>(engine: string, schema: Schema, said: GivenOptions): z.output<Schema> => {
  const names = namesOf(schema)
  // Null counts as unset, as in every other setting.
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null && value !== undefined))
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw wrong(
      `"${unknown}" is not an option of the engine ${engine}`,
      `Did you mean ${nearest(unknown, names)}? Its options: ${names.join(', ')}.`,
    )
  const read = schema.safeParse(given)
  if (read.success) return read.data
  const [issue] = read.error.issues
  if (issue?.code === 'custom') throw wrong(issue.message)
  const name = String(issue?.path[0])
  const found = Object.hasOwn(given, name) ? shown(given[name] ?? null) : 'missing'
  throw wrong(`"${name}" is ${found}, expected ${schema.shape[name]?.description ?? 'another value'}`)
}

/** The options of an earlier version that an engine can use: the others may be for another engine. */
export const usableOptions = (schema: OptionsSchema, said: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(said).filter(([name, value]) => Object.hasOwn(schema.shape, name) && schema.shape[name]?.safeParse(value).success),
  )

/** The key in a version's options that names the version it is based on. */
export const baseVersionKey = 'base_version'

/** The options of the user, without those that the service adds. */
export const optionsOf = ({ [baseVersionKey]: _, ...options }: JsonObject): JsonObject => options
