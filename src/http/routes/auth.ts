import * as z from 'zod'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { objectOrNone, titled } from '../protocol/body.js'
import type { Call } from '../protocol/call.js'
import { type Caller, nobody } from '../protocol/client.js'
import { json } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import { loginOf, type Sessions } from '../protocol/sessions.js'

/**
 * Paths that need no login: the login itself, the console's files (the console has its own login page), health checks, webhooks (which
 * check signatures), and probes of deployments.
 */
const open =
  /^\/(login|logout|status|health|ready|util\/(ping|readiness)|openapi\.json|assets\/[^/]+|webhooks\/chatbots\/[^/]+|cloud\/.*)?\/?$/
const metrics = /^\/metrics\/?$/

/** The tokens of a request: `Authorization: Bearer` and the cookie `session`. A proxy may send a header of its own beside the cookie. */
const tokensOf = (call: Call): string[] => {
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

const credentials = z.object({
  username: z.string().max(1_000).optional(),
  email: z.string().max(1_000).optional(),
  password: z.string().max(1_000),
})

/** Login and logout. Without sessions the service needs no login, but the routes still answer. */
export const authRoutes = (sessions: Sessions | undefined): Route[] => [
  route({
    method: 'post',
    path: '/login',
    summary: 'Log in: sets the cookie `session` and answers a token for `Authorization: Bearer`',
    ofNode: true,
    body: titled('Error in username or password', objectOrNone(credentials, 'login')),
    bodySize: 'small',
    answers: { 200: z.object({ token: z.string() }) },
    async handle({ body: { username, email, password }, call }) {
      // Without authentication no login is needed, but clients that always log in must not fail.
      if (!sessions) return json({ token: '' })
      call.forbidCaches()
      const token = await sessions.login(username ?? email ?? '', password, call.network)
      const cookie = { name: 'session', value: token, maxAgeMs: limits.sessionMaxAgeMs, secure: call.incoming.secure }
      return json({ token }, { cookie })
    },
  }),
  route({
    method: 'post',
    path: '/logout',
    summary: 'End the session',
    ofNode: true,
    answers: { 200: z.string() },
    async handle({ call }) {
      call.forbidCaches()
      for (const token of tokensOf(call)) await sessions?.logout(token)
      return json('', { cookie: { name: 'session' } })
    },
  }),
]
