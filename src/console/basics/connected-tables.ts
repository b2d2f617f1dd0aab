import { json } from '../api/request.js'

/** A table of a connection, as the service lists it. */
export type ConnectedTable = { name: string; type: string; schema?: string; note?: string }

/** The tables of a connection. @throws ApiError */
export const loadConnectedTables = (database: string, signal: AbortSignal): Promise<ConnectedTable[]> =>
  json<ConnectedTable[]>(`databases/${encodeURIComponent(database)}/tables`, { signal })

/**
 * The parts of the full name of a table. A list shows the schema before a name, with a dot, and names may have dots, too.
 *
 * @example tableParts('shop_db', { name: 'sales.orders', schema: 'sales' }) // ['shop_db', 'sales', 'orders']
 */
export const tableParts = (database: string, { name, schema }: Pick<ConnectedTable, 'name' | 'schema'>): string[] =>
  schema !== undefined && name.startsWith(`${schema}.`) ? [database, schema, name.slice(schema.length + 1)] : [database, name]
