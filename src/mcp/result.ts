import type { CallToolResult } from '@modelcontextprotocol/server'
import { shortDetail, shortened, type Problem } from '../basics/errors.js'

/** The result of a tool, as data for programs and as text. */
export const resultOf = (given: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(given) }],
  structuredContent: given,
})

/**
 * A refusal as the result of a tool: a language model reads it and can correct its call. It has no structured content, because that must
 * match the schema of the tool's answers. `_meta` has the problem for programs.
 */
export const refusalOf = ({ code, title, detail, extras: { hint } }: Problem, request: string): CallToolResult => {
  const said = { code, title, detail: shortDetail(detail), ...(hint !== undefined && { hint: shortened(hint) }), request }
  return {
    content: [{ type: 'text', text: [`${title}: ${said.detail}`, said.hint].filter((text) => text !== undefined).join('\n') }],
    isError: true,
    _meta: { 'mindledger/problem': said },
  }
}
