import type { CallToolResult } from '@modelcontextprotocol/server'
import { shortDetail, shortened, type Problem, type ProblemExtras } from '../basics/errors.js'

/** The result of a tool, as data for programs and as text. */
export const resultOf = (given: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(given) }],
  structuredContent: given,
})

/** The record that a refusal names, if the refused call is on record. */
const recordOf = ({ trace_id, position }: ProblemExtras): { trace_id?: string; position?: number } =>
  typeof trace_id === 'string' && typeof position === 'number' ? { trace_id, position } : {}

/**
 * A refusal as the result of a tool: a language model reads it and can correct its call. It has no structured content, because that must
 * match the schema of the tool's answers. `_meta` has the problem for programs.
 */
export const refusalOf = ({ code, title, detail, extras }: Problem, request: string): CallToolResult => {
  const { hint } = extras
  const record = recordOf(extras)
  const said = { code, title, detail: shortDetail(detail), ...(hint !== undefined && { hint: shortened(hint) }), ...record, request }
  const recorded = record.trace_id === undefined ? undefined : `It is recorded: answer ${record.trace_id}, position ${record.position}.`
  return {
    content: [{ type: 'text', text: [`${title}: ${said.detail}`, said.hint, recorded].filter((text) => text !== undefined).join('\n') }],
    isError: true,
    _meta: { 'mindledger/problem': said },
  }
}
