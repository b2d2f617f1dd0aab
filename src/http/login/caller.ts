import { Problem } from '../../basics/errors.js'
import type { Call } from '../protocol/call.js'
import { type Caller, nobody } from '../protocol/client.js'
import { loginOf, type Sessions } from './sessions.js'

/**
 * Paths that need no login: the login itself, the console's files (the console has its own login page), health checks, webhooks (which
 * check signatures), and probes of deployments.
 */
const open =
  /^\/(login|logout|status|health|ready|util\/(ping|readiness)|openapi\.json|assets\/[^/]+|webhooks\/chatbots\/[^/]+|cloud\/.*)?\/?$/
const metrics = /^\/metrics\/?$/

/** The tokens of a request: `Authorization: Bearer` and the cookie `session`. A proxy may send a header of its own beside the cookie. */
export const tokensOf = (call: Call): string[] => {
  const bearer = /^Bearer (\S+)$/i.exec(call.header('authorization') ?? '')?.[1]
  const cookie = /(?:^|;\s*)session=([^;\s]+)/.exec(call.header('cookie') ?? '')?.[1]
  return [bearer, cookie].filter((token) => token !== undefined)
}

/** Identifies the caller, and requires a login. Metrics may be public. @throws Problem 401, 503 */
export const callerOf = async (sessions: Sessions, { openMetrics }: { openMetrics: boolean }, call: Call): Promise<Caller> => {
  const isOpen = open.test(call.path) || (openMetrics && metrics.test(call.path))
  for (const token of tokensOf(call)) {
    // Addresses that need no login also answer while the store of logins cannot be reached.
    const actor = await sessions.actorOf(token).catch((error: unknown) => {
      if (!isOpen) throw error
      return undefined
    })
    if (actor !== undefined)
      return { actor, login: loginOf(token), mayGoOn: () => sessions.goesOn(token), sessionEnd: sessions.endOf(token) }
  }
  if (!isOpen)
    throw new Problem('unauthorized', 'Unauthorized', 'this service requires a login', {
      hint: 'POST /api/login with username and password.',
    })
  return nobody
}
