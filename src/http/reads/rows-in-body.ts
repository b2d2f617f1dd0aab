import * as z from 'zod'
import { isObject, unfitJson } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import type { InputRow } from '../../models/serving/predict-rows.js'
import { parseRowsText } from '../protocol/json-body.js'

/** The most rows that a body may hold, and what a client can do with more. */
export type RowLimit = { rows: number; instead: string }

const refuseTooMany = (rows: number, limit: RowLimit): void => {
  if (rows > limit.rows) throw wrong(`${rows} rows; a request takes at most ${limit.rows}`, limit.instead)
}

const fromColumns = (columns: Record<string, unknown>, limit: RowLimit): unknown[] => {
  const entries = Object.entries(columns).map(([name, values]) => {
    if (!Array.isArray(values)) throw wrong(`data.${name}: must be an array, as data is an object of columns`)
    return [name, values as unknown[]] as const
  })
  const length = entries[0]?.[1].length ?? 0
  // Checked before rows are made, because columns take far less memory than rows.
  refuseTooMany(length, limit)
  const ragged = entries.find(([, values]) => values.length !== length)
  if (ragged) throw wrong(`data.${ragged[0]}: has ${ragged[1].length} values, the first column has ${length}`)
  return Array.from({ length }, (_, row) => Object.fromEntries(entries.map(([name, values]) => [name, values[row]])))
}

const parseText = async (text: string): Promise<unknown> => {
  try {
    return await parseRowsText(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw wrong('data: is text, but not well-formed JSON')
  }
}

const listed = async (data: unknown, limit: RowLimit): Promise<unknown[]> => {
  if (typeof data === 'string') return listed(await parseText(data), limit)
  if (Array.isArray(data)) return data as unknown[]
  if (isObject(data)) return fromColumns(data, limit)
  throw wrong('data: must be an array of rows, an object of columns, or either as JSON text')
}

/**
 * Reads the rows of a body: as a list, as columns, or as a JSON text of either.
 *
 * @example rowsIn({ sqft: [900, 1200] }, limit) // [{ sqft: 900 }, { sqft: 1200 }]
 * @throws Problem 400 that names the row or the column, or says that there are too many
 */
export const rowsIn = async (data: unknown, limit: RowLimit): Promise<InputRow[]> => {
  const rows = await listed(data, limit)
  refuseTooMany(rows.length, limit)
  const work = new LongWork()
  for (const [i, row] of rows.entries()) {
    if (!isObject(row)) throw wrong(`row ${i}: must be an object of columns`)
    const unfit = unfitJson(row)
    if (unfit) throw wrong(`row ${i}: ${unfit[0]} ${unfit[1]}`)
    await work.pause()
  }
  return rows as InputRow[]
}

export const rowsSchema = z.array(z.looseObject({})).describe('An object of columns for each row')
const columnsSchema = z
  .record(z.string(), z.array(z.unknown()))
  .describe('An array of values, one for each row, under the name of each column')
const textSchema = z.string().describe('The rows or the columns as JSON text')

/** The forms that `rowsIn` reads. */
export const dataSchema = z.union([rowsSchema, columnsSchema, textSchema])
