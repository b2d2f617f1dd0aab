import type { Json, JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { AnswerBounds } from '../contract/answer-record.js'
import type { TablePath } from '../../sql/contract/select.js'
import { cutText } from '../../llm/tokens/estimates.js'
import type { Queries, QueryRows } from '../queries/queries.js'
import { fittingTexts, inputSchema, type Tool, type ToolResult } from './tool.js'

const cellMaxChars = 2_000

const shownCell = (cell: Json): Json => (typeof cell === 'string' ? cutText(cell, cellMaxChars) : cell)

/** Rows as text for a language model: the names of the columns, then one array per line, as many as fit. */
const rowsText = ({ columns, rows, cut }: QueryRows): string => {
  const header = `columns: ${JSON.stringify(columns.map(({ name }) => name))}`
  const lines = fittingTexts(rows.slice(0, limits.agentShownMaxRows), (row) => JSON.stringify(row.map(shownCell)), header.length)
  const shown = lines.length
  const all = cut ? `more than ${rows.length} rows` : `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`
  return [header, ...lines, shown < rows.length || cut ? `${all}; the first ${shown} are shown` : all].join('\n')
}

/** How often an answer may use it, how often it may fail, and that answers can be based on it. */
export const sqlTraits = ({ queries, repairs }: AnswerBounds) =>
  ({ kind: 'sql', maxCalls: queries, maxFailures: repairs + 1, givesData: true }) as const

type SqlTool = Omit<Tool, 'use'> & { use: (input: JsonObject) => Promise<ToolResult & Required<Pick<ToolResult, 'query'>>> }

/** The tool that runs one SELECT over the tables of an agent. */
export const sqlTool = (queries: Queries, only: readonly TablePath[], db: string, bounds: AnswerBounds): SqlTool => ({
  ...sqlTraits(bounds),
  description: {
    name: 'sql',
    description: `Runs one SELECT in the dialect of DuckDB over the tables that you may query, and gives its rows (at most ${limits.agentQueryMaxRows}). It cannot change anything.`,
    inputSchema: inputSchema({ query: { type: 'string', description: 'The SELECT statement' } }),
  },
  async use({ query }) {
    if (typeof query !== 'string' || query.trim() === '') throw wrong('query: must be the text of a SELECT statement')
    const answer = await queries.run({ sql: query, db, only, maxRows: limits.agentQueryMaxRows, timeoutMs: limits.agentQueryTimeoutMs })
    const { columns, rows, cut } = answer
    return { output: rowsText(answer), rows: rows.length, query: { sql: query, columns: columns.map(({ name }) => name), rows, cut } }
  },
})
