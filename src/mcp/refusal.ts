import { shortDetail, shortened, type Problem, type ProblemCode } from '../basics/errors.js'
import type { Call } from '../http/protocol/call.js'
import { json, type Reply } from '../http/protocol/reply.js'

/** Codes of JSON-RPC; those of the service itself begin at -32000. */
const [parseError, invalidRequest, ownError] = [-32_700, -32_600, -32_000]

const codes: { readonly [C in ProblemCode]?: number } = { bad_json: parseError, wrong_arguments: invalidRequest }

/** The text of an error without its code, as in JSON-RPC. The id is null if the message cannot be read. */
export const jsonRpcRefusal = ({ code, message, data, id }: { code: number; message: string; data?: object; id?: unknown }) => ({
  jsonrpc: '2.0',
  error: { code, message, ...(data && { data }) },
  id: typeof id === 'string' || typeof id === 'number' ? id : null,
})

/** The refusal of a request before the protocol's library sees it, in the form that clients of the protocol read. */
export const refusal = (problem: Problem, call: Call): Reply => {
  const { code, title, detail, status, extras } = problem
  const { hint, retryAfterSeconds } = extras
  const data = { code, title, ...(hint !== undefined && { hint: shortened(hint) }), request: call.id }
  const id: unknown = typeof call.json === 'object' && call.json !== null ? Reflect.get(call.json, 'id') : undefined
  return json(jsonRpcRefusal({ code: codes[code] ?? ownError, message: `${title}: ${shortDetail(detail)}`, data, id }), {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  })
}
