import type { Request, RequestHandler } from 'express'
import { z } from 'zod'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { clientAddress } from '../protocol/client-address.js'
import { parse, type Route } from '../protocol/route.js'
import { loginOf, type Sessions } from '../protocol/sessions.js'

/** What anyone may call: to log in, to see that the service is up, and clients' probes for other deployments. */
const open = /^\/(login|logout|status|health|ready|util\/(ping|readiness)|openapi\.json|cloud\/.*)?\/?$/
const metrics = /^\/metrics\/?$/

/** The session's token: the cookie `session`, or `Authorization: Bearer`. */
const tokenOf = (req: Request): string | undefined => {
  const bearer = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '')?.[1]
  const cookie = /(?:^|;\s*)session=([^;\s]+)/.exec(req.get('cookie') ?? '')?.[1]
  return bearer ?? cookie
}

/** Lets only those in who have logged in; notes who it is. Metrics may be open to all. */
export const requireSession =
  (sessions: Sessions, { openMetrics }: { openMetrics: boolean }): RequestHandler =>
  (req, res, next) => {
    const token = tokenOf(req)
    const actor = sessions.actorOf(token)
    if (token !== undefined && actor !== undefined) {
      res.locals['actor'] = actor
      res.locals['login'] = loginOf(token)
      // An answer that goes on for hours has to ask again.
      res.locals['stillIn'] = () => sessions.actorOf(token) !== undefined
      res.locals['sessionEnd'] = sessions.endOf(token)
    }
    if (actor === undefined && !open.test(req.path) && !(openMetrics && metrics.test(req.path)))
      throw new Problem('unauthorized', 'Unauthorized', 'this service requires a login', {
        hint: 'POST /api/login with username and password.',
      })
    next()
  }

const credentials = z.object({
  username: z.string().max(1_000).optional(),
  email: z.string().max(1_000).optional(),
  password: z.string().max(1_000),
})

export const authRoutes = (sessions: Sessions | undefined): Route[] => [
  {
    method: 'post',
    path: '/login',
    summary: 'Log in: sets the cookie `session` and answers a token for `Authorization: Bearer`',
    body: credentials,
    bodySize: 'small',
    answers: { 200: z.object({ token: z.string() }) },
    async handle(req, res) {
      const { username, email, password } = parse(credentials, req.body ?? {}, 'login')
      if (!sessions) {
        // Without authentication there is nothing to log in to; clients that always log in must not fail.
        res.json({ token: '' })
        return
      }
      res.set('Cache-Control', 'no-store')
      const token = sessions.login(username ?? email ?? '', password, clientAddress(req))
      res.cookie('session', token, { httpOnly: true, sameSite: 'lax', path: '/', maxAge: limits.sessionMaxAgeMs, secure: req.secure })
      res.json({ token })
    },
  },
  {
    method: 'post',
    path: '/logout',
    summary: 'End the session',
    answers: { 200: z.string() },
    async handle(req, res) {
      sessions?.logout(tokenOf(req))
      res.set('Cache-Control', 'no-store')
      res.clearCookie('session', { path: '/' })
      res.json('')
    },
  },
]
