import * as z from 'zod'
import { limits } from '../../basics/limits.js'
import { tokensOf } from '../login/caller.js'
import type { Sessions } from '../login/sessions.js'
import { objectOrNone, titled } from '../protocol/body-schema.js'
import { json } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

const credentials = z.object({
  username: z.string().max(1_000).optional(),
  email: z.string().max(1_000).optional(),
  password: z.string().max(1_000),
})

/** Login and logout. Without sessions the service needs no login, but the routes still answer. */
export const loginRoutes = (sessions: Sessions | undefined): Route[] => [
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
