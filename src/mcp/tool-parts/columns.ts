import * as z from 'zod'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { askRows } from './ask-sql.js'
import type { CallContext } from './tool.js'

/** A column in the answers of tools. */
export const columnSchema = z.object({ name: z.string(), type: z.string(), about: z.string() })
export type Column = z.infer<typeof columnSchema>

const rowsSchema = z.array(
  z.tuple([z.string(), z.string(), z.string(), z.string().nullable()]).transform(([table, name, type, about]) => ({
    table,
    column: { name, type, about: about ?? '' },
  })),
)

const columnsSql = `SELECT TABLE_NAME, COLUMN_NAME, ORIGINAL_TYPE, COLUMN_COMMENT FROM information_schema.columns WHERE TABLE_SCHEMA = :schema`

/** The columns of a table, and whether it has more. @throws Problem 404 when no columns are found, because every table has columns */
export const columnsOf = async (
  sql: Pick<SqlEngine, 'execute'>,
  { schema, table }: { schema: string; table: string },
  asked: CallContext,
): Promise<{ columns: Column[]; isCut: boolean }> => {
  const query = `${columnsSql} AND TABLE_NAME = :table ORDER BY ORDINAL_POSITION`
  const most = { rows: limits.mcpMaxRows, bytes: limits.mcpAnswerMaxBytes }
  const { rows, isCut } = await askRows(sql, { query, params: { schema, table } }, most, asked)
  if (rows.length === 0)
    throw new Problem('not_found', 'Table not found', `there is no table ${table} in ${schema}, or its columns are not known`, {
      hint: 'list with kind "tables" and in the database; a view has columns while its query can be planned.',
    })
  return { columns: rowsSchema.parse(rows).map(({ column }) => column), isCut }
}

/** The columns of all tables of a database, by table, and whether there are more. */
export const schemaOf = async (
  sql: Pick<SqlEngine, 'execute'>,
  schema: string,
  asked: CallContext,
): Promise<{ tables: { name: string; columns: Column[] }[]; isCut: boolean }> => {
  const query = `${columnsSql} ORDER BY TABLE_NAME, ORDINAL_POSITION`
  const most = { rows: limits.mcpSchemaMaxColumns, bytes: limits.mcpAnswerMaxBytes }
  const { rows, isCut } = await askRows(sql, { query, params: { schema } }, most, asked)
  const tables = new Map<string, Column[]>()
  for (const { table, column } of rowsSchema.parse(rows)) tables.set(table, [...(tables.get(table) ?? []), column])
  return { tables: [...tables].map(([name, columns]) => ({ name, columns })), isCut }
}
