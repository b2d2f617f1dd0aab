import { isProblem } from '../../basics/errors.js'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import type { ListedColumns } from '../../connections/contract/requests.js'
import { nameKey } from '../../dialect/names.js'
import type { ScopeTable } from '../scope/tables-in.js'
import { tableKeys, type ListColumns } from './columns-of.js'
import { tooSlow } from './describe.js'
import type { TableLinks } from './schema-linking.js'

const learnFrom = async (links: TableLinks, tables: readonly ScopeTable[], list: Promise<ListedColumns>): Promise<void> => {
  const { listed } = await list
  const columns = new Map<string, { name: string }[]>()
  for (const column of listed)
    for (const key of tableKeys(column)) {
      const known = columns.get(key)
      if (known) known.push(column)
      else columns.set(key, [column])
    }
  // A table that is not in the list is not looked for again.
  for (const table of tables) links.learn(table, columns.get(nameKey(table.path.slice(1))) ?? [])
}

/**
 * Learns the columns of connected tables, each connection in one list, so that a question finds a table by them. The tables of a connection
 * that does not list them until `patience` aborts are found by their names alone.
 */
export const learnColumns = async (
  links: TableLinks,
  tables: readonly ScopeTable[],
  columnsOf: ListColumns,
  patience: AbortSignal,
): Promise<void> => {
  const unknown = tables.filter((table) => table.connection && !links.knows(table))
  const connections = new Map(unknown.flatMap(({ connection }) => (connection ? [[connection.stream, connection]] : [])))
  await Promise.all(
    [...connections.values()].map(async (connection) => {
      const list = unlessAborted(columnsOf(connection), patience, () => tooSlow(connection.state.name))
      await learnFrom(
        links,
        unknown.filter((table) => table.connection?.stream === connection.stream),
        list,
      ).catch((error: unknown) => {
        if (!isProblem(error)) throw error
      })
    }),
  )
}
