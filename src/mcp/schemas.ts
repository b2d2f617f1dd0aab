import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, ResourceTemplate, type McpServer } from '@modelcontextprotocol/server'
import { isProblem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { findDatabase } from '../http/reads/find-database.js'
import { itemsOf } from '../http/reads/paged-list.js'
import type { Moment } from '../http/reads/read-routes.js'
import { listDatabases, type DatabaseListed } from '../http/routes/resources/databases.js'
import type { SqlEngine } from '../sql/facade/execute.js'
import { columnsOf, schemaOf } from './tool-parts/columns.js'
import type { CallContext } from './tool-parts/tool.js'

const base = 'mindledger://schemas'
const mimeType = 'application/json'

type Parts = { sql: Pick<SqlEngine, 'execute'>; moment: Moment; defaultProject: string }

/** Every database that FROM can name before a dot, each as a resource. */
const databases = async ({ moment, defaultProject }: Parts) => {
  const resources: { uri: string; name: string; description: string; mimeType: string }[] = []
  for await (const item of itemsOf(listDatabases(moment, defaultProject))) {
    const { name, type, engine } = item as DatabaseListed
    const description = `Tables and columns of ${name} (${engine ?? type})`
    resources.push({ uri: `${base}/${encodeURIComponent(name)}`, name, description, mimeType })
    if (resources.length === limits.mcpMaxRows) break
  }
  return { resources }
}

const nameIn = (variable: string | string[] | undefined): string => {
  try {
    return decodeURIComponent(typeof variable === 'string' ? variable : '')
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'the URI is not well-formed (a broken % escape)')
  }
}

/** Reads a resource. A refusal becomes an error of the protocol. */
const read = async (uri: URL, content: () => Promise<object | undefined>) => {
  try {
    const found = await content()
    if (!found) throw new ResourceNotFoundError(uri.href)
    return { contents: [{ uri: uri.href, mimeType, text: JSON.stringify(found) }] }
  } catch (error) {
    if (!isProblem(error)) throw error
    if (error.code === 'not_found') throw new ResourceNotFoundError(uri.href)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.title}: ${error.detail}`)
  }
}

/**
 * Offers the schemas of databases: one resource for each database, and one for each of its tables. The resources are read for the client in
 * `asked`.
 */
export const offerSchemas = (server: McpServer, parts: Parts, asked: CallContext): void => {
  const { sql, moment } = parts
  const databaseNamed = async (name: string) => (await findDatabase(moment, name))?.name
  server.registerResource(
    'schema',
    new ResourceTemplate(`${base}/{database}`, { list: () => databases(parts) }),
    { title: 'Schema of a database', description: 'The tables of a project or database with their columns', mimeType },
    (uri, { database }) =>
      read(uri, async () => {
        const schema = await databaseNamed(nameIn(database))
        if (schema === undefined) return undefined
        const { tables, isCut } = await schemaOf(sql, schema, asked)
        return { database: schema, tables, truncated: isCut }
      }),
  )
  server.registerResource(
    'table',
    new ResourceTemplate(`${base}/{database}/{table}`, { list: undefined }),
    { title: 'Schema of a table', description: 'The columns of one table, view, file or model', mimeType },
    (uri, { database, table }) =>
      read(uri, async () => {
        const schema = await databaseNamed(nameIn(database))
        if (schema === undefined) return undefined
        const name = nameIn(table)
        const { columns, isCut } = await columnsOf(sql, { schema, table: name }, asked)
        return { database: schema, table: name, columns, truncated: isCut }
      }),
  )
}
