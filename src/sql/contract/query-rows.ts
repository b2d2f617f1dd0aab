import type { JsonObject } from '../../../events/common.js'
import { checkNames } from '../../dialect/column-names.js'
import { leave, rowsIn } from './answer.js'

/**
 * The rows of a query as objects, chunk by chunk.
 *
 * @throws Problem when two columns have the same name, because an object would keep only one of them
 */
export async function* rowsOf(columns: readonly { name: string }[], chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonObject, void, void> {
  const names = columns.map(({ name }) => name)
  try {
    checkNames(columns, 'rows')
    for await (const chunk of chunks)
      for (const row of rowsIn(chunk)) yield Object.fromEntries(names.map((name, i) => [name, row[i]])) as JsonObject
  } finally {
    await leave({ rows: chunks })
  }
}
