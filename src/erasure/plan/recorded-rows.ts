import * as z from 'zod'

const rowsSchema = z.array(
  z.looseObject({ position: z.number().optional(), request: z.string(), row: z.number(), erased: z.boolean().optional() }),
)

/** The request of a predicted row; for a truth also the position of its prediction. */
export type RowPlace = { request: string; position?: number | undefined }

/**
 * The recorded rows of a payload without the erased ones: the number of erased rows, and the remaining rows as the replacement has them;
 * null when none remain. Undefined when no row can be erased.
 *
 * @example withoutRows('[{"request":"a","row":1},{"request":"b","row":1}]', ({ request }) => request === 'a') // { goes: 1, stays: '[{"request":"a","row":1,"erased":true},…' }
 */
export const withoutRows = (text: string, leaves: (row: RowPlace) => boolean): { goes: number; stays: string | null } | undefined => {
  const rows = rowsSchema.parse(JSON.parse(text))
  const goes = rows.filter((row) => leaves(row) && row.erased !== true).length
  if (goes === 0) return undefined
  const left = rows.map((row) => {
    if (!leaves(row)) return row
    const { position, request } = row
    return { ...(position !== undefined && { position }), request, row: row.row, erased: true }
  })
  return { goes, stays: left.every(({ erased }) => erased === true) ? null : JSON.stringify(left) }
}
