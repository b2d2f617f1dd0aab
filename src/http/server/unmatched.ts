import { Problem } from '../../basics/errors.js'
import type { Call } from '../protocol/call.js'

/**
 * Refuses a method that the path does not support, and names those that it does. An unknown path supports none: clients of
 * MindsDB rely on 405 there for everything but GET.
 */
export const refuseMethod = (call: Call, methods: readonly string[]): never => {
  const allowed = methods.join(', ')
  call.answerHeaders['Allow'] = allowed
  throw new Problem(
    'method_not_allowed',
    'Method Not Allowed',
    `${call.method} is not allowed at this address`,
    allowed === '' ? {} : { hint: `It takes ${allowed}.` },
  )
}

/** Refuses a request to an unknown path. @throws Problem 404, or 405 for everything but GET and HEAD */
export const unknownPath = (call: Call): never => {
  if (call.method !== 'GET' && call.method !== 'HEAD') refuseMethod(call, [])
  throw new Problem('no_such_path', 'Not found', 'The endpoint you are trying to access does not exist on the server.', {
    hint: 'GET /api/openapi.json lists what there is.',
  })
}
