import { z } from 'zod'

const rowsSchema = z.array(z.looseObject({ request: z.string(), row: z.number(), erased: z.boolean().optional() }))

/**
 * The recorded rows of a payload without those of one request: how many go, and what stays, as the replacement holds it; null
 * when nothing does. Undefined when there are none that could go.
 *
 * @example withoutRequest('[{"request":"a","row":1},{"request":"b","row":1}]', 'a') // { goes: 1, stays: '[{"request":"a","row":1,"erased":true},…' }
 */
export const withoutRequest = (text: string, request: string): { goes: number; stays: string | null } | undefined => {
  const rows = rowsSchema.parse(JSON.parse(text))
  const goes = rows.filter((row) => row.request === request && row.erased !== true).length
  if (goes === 0) return undefined
  const left = rows.map((row) => (row.request === request ? { request, row: row.row, erased: true } : row))
  return { goes, stays: left.every(({ erased }) => erased === true) ? null : JSON.stringify(left) }
}
