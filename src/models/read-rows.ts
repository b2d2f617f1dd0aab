import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { MatrixBuilder, type Matrix } from './matrix.js'
import type { Exclusion } from './task.js'
import { columnTypeOf } from './values.js'

/** A query's result as a file: each line holds rows as comma-joined JSON arrays. */
export type RowsFile = { file: string; columns: readonly { name: string; type: string }[] }

/**
 * Reads a query's rows into a canonical matrix. Columns of types that nothing can be learned from (lists, blobs …) are
 * left out and named.
 *
 * @example const { matrix, excluded } = await readRows({ file: 'rows.ndjson', columns }, seed)
 */
export const readRows = async ({ file, columns }: RowsFile, seed: number): Promise<{ matrix: Matrix; excluded: Exclusion[] }> => {
  const typed = columns.map(({ name, type }, index) => ({ name, index, sqlType: type, type: columnTypeOf(type) }))
  const kept = typed.flatMap(({ name, index, type }) => (type === undefined ? [] : [{ name, index, type }]))
  const builder = new MatrixBuilder(kept.map(({ name, type }) => ({ name, type })))
  const whole = kept.length === columns.length
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const rows = JSON.parse(`[${line}]`) as unknown[][]
    for (const row of rows) builder.addRow(whole ? row : kept.map(({ index }) => row[index]))
  }
  const excluded = typed.flatMap(({ name, type, sqlType }) =>
    type === undefined ? [{ name, type: 'text' as const, reason: `nothing can be learned from the type ${sqlType}` }] : [],
  )
  return { matrix: builder.build(seed), excluded }
}
