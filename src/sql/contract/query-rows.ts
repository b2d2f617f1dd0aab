import type { JsonObject } from '../../../events/common.js'
import { rowsIn } from './answer.js'

/** The rows of a query as objects, chunk by chunk. If several columns have the same name, the last one counts. */
export async function* rowsOf(columns: readonly { name: string }[], chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonObject, void, void> {
  const names = columns.map(({ name }) => name)
  for await (const chunk of chunks)
    for (const row of rowsIn(chunk)) yield Object.fromEntries(names.map((name, i) => [name, row[i]])) as JsonObject
}
