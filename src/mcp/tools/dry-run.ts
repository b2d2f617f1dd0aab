import * as z from 'zod'
import { limits } from '../../basics/limits.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { askSql } from '../tool-parts/ask-sql.js'
import { Budget } from '../tool-parts/budget.js'
import { firstRows } from '../tool-parts/rows.js'
import { tool, type Tool } from '../tool-parts/tool.js'
import { database, sqlParams } from './arguments.js'

const input = z.strictObject({
  sql: z.string().min(1).describe('A statement that writes, such as CREATE AGENT, UPDATE SKILL, CREATE MODEL, DROP VIEW'),
  database,
  params: sqlParams.optional(),
})

const output = z.object({
  events: z
    .array(
      z.object({
        type: z.string(),
        stream: z.string(),
        version: z.int(),
        data: z.record(z.string(), z.unknown()).describe('Secrets show as ******'),
      }),
    )
    .describe('The events that the statement would record now, in order; none if there is nothing to do'),
  truncated: z.boolean().describe('Whether there would be more events'),
})

const rowSchema = z.tuple([z.string(), z.string(), z.int(), z.string()])

/** Shows the events that a writing statement would record. It writes nothing, so it does not need MCP_WRITE. */
export const dryRunTool = (sql: Pick<SqlEngine, 'execute'>): Tool =>
  tool({
    name: 'dry_run',
    title: 'Try a statement without writing',
    description:
      'Checks a SQL statement that writes, and shows the events that it would record. Nothing is written. Errors are those of the statement.',
    effect: { readsOnly: true },
    input,
    output,
    async run({ sql: query, database: db, params }, asked) {
      const answer = await askSql(sql, { query, db, params, execution: { dryRun: true } }, asked)
      if (answer.type !== 'table') return { events: [], truncated: false }
      const { rows, isCut } = await firstRows(answer.rows, { rows: limits.mcpMaxRows, bytes: limits.mcpAnswerMaxBytes })
      const events = new Budget().first(
        rows.map((row) => {
          const [type, stream, version, data] = rowSchema.parse(row)
          return { type, stream, version, data: JSON.parse(data) as Record<string, unknown> }
        }),
      )
      return { events, truncated: isCut || events.length < rows.length }
    },
  })
