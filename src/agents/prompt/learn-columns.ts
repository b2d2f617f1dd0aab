import { foldName } from '../../../events/common.js'
import { isProblem } from '../../basics/errors.js'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import type { ListedColumns } from '../../connections/contract/requests.js'
import type { ScopeTable } from '../scope/tables-in.js'
import type { ListColumns } from './columns-of.js'
import { tooSlow } from './describe.js'
import type { TableLinks } from './link.js'

/** Names are compared without case, as SQL finds a table. */
const keyOf = (path: readonly (string | null)[]): string => JSON.stringify(path.map((name) => name && foldName(name)))

const learnFrom = async (links: TableLinks, tables: readonly ScopeTable[], list: Promise<ListedColumns>): Promise<void> => {
  const { listed } = await list
  const columns = new Map<string, { name: string }[]>()
  const add = (path: readonly (string | null)[], name: string): void => {
    const key = keyOf(path)
    const known = columns.get(key)
    if (known) known.push({ name })
    else columns.set(key, [{ name }])
  }
  for (const { schema, table, isUsual, name } of listed) {
    if (isUsual) add([table], name)
    if (schema !== null) add([schema, table], name)
  }
  // A table that is not in the list is not looked for again.
  for (const table of tables) links.learn(table, columns.get(keyOf(table.path.slice(1))) ?? [])
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
