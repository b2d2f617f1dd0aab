import { z } from 'zod'
import type { Route } from './route.js'

/** What the service says about itself. */
export type About = {
  version: string
  authentication: boolean
  defaultProject: string
  /** Why SQL cannot be answered at the moment, if so. */
  sqlStopped: () => string | undefined
}

export const statusRoutes = ({ version, authentication, sqlStopped }: About): Route[] => [
  {
    method: 'get',
    path: '/status',
    summary: 'Version and way of authentication',
    answers: { 200: z.looseObject({ mindsdb_version: z.string(), environment: z.string() }) },
    async handle(_req, res) {
      const stopped = sqlStopped()
      res.json({
        mindsdb_version: version,
        mindledger_version: version,
        environment: 'local',
        auth: {
          confirmed: Boolean(res.locals['actor']) || !authentication,
          http_auth_enabled: authentication,
          provider: authentication ? 'local' : 'disabled',
        },
        sql: stopped === undefined ? { ready: true } : { ready: false, reason: stopped },
      })
    },
  },
  {
    method: 'get',
    path: '/util/ping',
    summary: 'Whether the service answers',
    answers: { 200: z.object({ status: z.string() }) },
    async handle(_req, res) {
      res.json({ status: 'ok' })
    },
  },
  {
    method: 'get',
    path: '/util/readiness',
    summary: 'Whether the service is ready for SQL too: 200, or 503',
    answers: { 200: z.string(), 503: z.string() },
    async handle(_req, res) {
      const stopped = sqlStopped()
      res.status(stopped === undefined ? 200 : 503).json(stopped ?? '')
    },
  },
]
