/**
 * Room: the tools of the Model Context Protocol, a file for each. It imports only events, basics, vault, log, commands, knowledge/contract,
 * models/serving, sql/facade, agents/contract, http/reads and mcp/tool-parts.
 */

import * as z from 'zod'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { askSql, type Answer } from '../tool-parts/ask-sql.js'
import { Budget } from '../tool-parts/budget.js'
import { firstRows } from '../tool-parts/rows.js'
import { tool, type Tool } from '../tool-parts/tool.js'
import { asOf, database, sqlParams } from './arguments.js'

const input = z.strictObject({
  sql: z.string().min(1).describe('One SQL statement in the dialect of DuckDB, such as SELECT, SHOW TABLES, DESCRIBE t, EXPLAIN SELECT …'),
  database,
  params: sqlParams.optional(),
  as_of: asOf.optional(),
  max_rows: z
    .int()
    .min(1)
    .max(limits.mcpMaxRows)
    .optional()
    .describe(`Rows to give, ${limits.mcpDefaultRows} by default; at most ${limits.mcpMaxRows}`),
})

const output = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })).describe('Empty for a statement that gives no rows'),
  rows: z.array(z.array(z.unknown())).describe('A list of values for each row, in the order of the columns'),
  truncated: z.boolean().describe('Whether there are more rows; LIMIT, WHERE, GROUP BY or fewer columns make the answer smaller'),
  affected_rows: z.int().nullable().describe('How many rows a statement that writes has written'),
  positions: z.array(z.int()).describe('The log positions of the events that it recorded'),
  database: z.string().describe('Where names were looked up'),
})

/** Adds a hint if a statement was refused because it writes. */
const withWay = (error: unknown): unknown =>
  isProblem(error) && error.title === 'Only statements that read'
    ? new Problem(error.code, error.title, error.detail, {
        hint: 'dry_run shows the events that it would record. The operator can allow writes of MCP clients with the setting MCP_WRITE=true.',
      })
    : error

const tableOf = async ({ columns, rows, positions, scores }: Extract<Answer, { type: 'table' }>, maxRows: number) => {
  const budget = new Budget()
  const shown = budget.first(columns)
  // The scores of models are recorded after the last row, including the scores of rows that the answer does not have.
  const { rows: first, isCut } = await firstRows(rows, { rows: maxRows, bytes: budget.left, toEnd: scores === true })
  return { columns: shown, rows: first, truncated: isCut || shown.length < columns.length, affected_rows: null, positions: [...positions] }
}

/** SQL for clients of MCP; with `writes`, writing statements are also accepted. */
export const queryTool = (sql: Pick<SqlEngine, 'execute'>, { writes }: { writes: boolean }): Tool =>
  tool({
    name: 'query',
    title: writes ? 'Run a SQL statement' : 'Query with SQL',
    description: `Runs one SQL statement over the projects, files, connected databases and the log of this service, and gives its first rows. ${
      writes
        ? 'Statements that write are executed and recorded; dry_run shows their events first.'
        : 'It only accepts statements that read.'
    } list and describe tell what tables and columns there are; a model is a table: SELECT its target WHERE its inputs have values, or JOIN it.`,
    effect: { readsOnly: !writes },
    input,
    output,
    async run({ sql: query, database: db, params, as_of, max_rows = limits.mcpDefaultRows }, asked) {
      const answer = await askSql(sql, { query, db, params, asOf: as_of, readsOnly: !writes }, asked).catch((error: unknown) => {
        throw withWay(error)
      })
      const given =
        answer.type === 'table'
          ? await tableOf(answer, max_rows)
          : { columns: [], rows: [], truncated: false, affected_rows: answer.affected_rows, positions: [...answer.positions] }
      asked.note(given.positions)
      return { ...given, database: answer.context.db }
    },
  })
