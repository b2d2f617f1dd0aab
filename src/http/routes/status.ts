import * as z from 'zod'
import type { VisibleSetting } from '../../setup/config.js'
import type { ExportStatus } from '../../archive/scheduled-export.js'
import type { HeadFileStatus } from '../../audit/head-file.js'
import { json } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

/** The status of the service. */
export type ServiceInfo = {
  version: string
  authentication: boolean
  defaultProject: string
  /** The status of the file to which heads are appended, if there is one. */
  headFile: () => HeadFileStatus | undefined
  /** The status of the export, if there is one. */
  exported: () => ExportStatus | undefined
  /** Why SQL is unavailable at the moment, if it is. */
  sqlStopped: () => string | undefined
  /** Whether a model is being trained. */
  isTraining: () => boolean
  settings: readonly VisibleSetting[]
}

const settingSchema = z.object({ name: z.string(), value: z.string().nullable(), is_default: z.boolean(), about: z.string() })

/** The routes for the state of this node: version, login, settings, and a health check. */
export const statusRoutes = ({
  version,
  authentication,
  defaultProject,
  sqlStopped,
  isTraining,
  headFile,
  exported,
  settings,
}: ServiceInfo): Route[] => [
  route({
    method: 'get',
    path: '/status',
    summary: 'Version, way of authentication, and default project; after a login also the state of HEAD_FILE and of the export',
    ofNode: true,
    answers: { 200: z.looseObject({ mindsdb_version: z.string(), environment: z.string(), default_project: z.string() }) },
    async handle({ call }) {
      const stopped = sqlStopped()
      // This address needs no login, and paths and errors of this machine are not for everybody.
      const isConfirmed = call.caller.actor !== undefined || !authentication
      const heads = isConfirmed ? headFile() : undefined
      const history = isConfirmed ? exported() : undefined
      return json({
        mindsdb_version: version,
        mindledger_version: version,
        environment: 'local',
        default_project: defaultProject,
        auth: {
          confirmed: isConfirmed,
          http_auth_enabled: authentication,
          provider: authentication ? 'local' : 'disabled',
        },
        sql: stopped === undefined ? { ready: true } : { ready: false, reason: stopped },
        ...(heads && { heads }),
        ...(history && { export: history }),
      })
    },
  }),
  route({
    method: 'get',
    path: '/settings',
    summary: 'The value of each setting of this node; a secret shows as ******',
    ofNode: true,
    answers: { 200: z.array(settingSchema) },
    async handle() {
      return json(settings)
    },
  }),
  route({
    method: 'get',
    path: '/util/ping',
    summary: 'Whether the service answers',
    ofNode: true,
    answers: { 200: z.object({ status: z.string() }) },
    async handle() {
      return json({ status: 'ok' })
    },
  }),
  route({
    method: 'get',
    path: '/util/ping_native',
    summary: 'Running work in separate processes: trainings have one; the service itself makes predictions',
    ofNode: true,
    answers: { 200: z.object({ learn: z.boolean(), predict: z.boolean(), analyse: z.boolean() }) },
    async handle() {
      return json({ learn: isTraining(), predict: false, analyse: false })
    },
  }),
  route({
    method: 'get',
    path: '/util/readiness',
    summary: 'Whether the service is ready for SQL too: 200, or 503',
    ofNode: true,
    answers: { 200: z.string(), 503: z.string() },
    async handle() {
      const stopped = sqlStopped()
      return json(stopped ?? '', { status: stopped === undefined ? 200 : 503 })
    },
  }),
]
