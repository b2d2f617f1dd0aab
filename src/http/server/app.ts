import express, { type Express, type Request, type RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Ledger } from '../../commands/ledger.js'
import { Problem } from '../../basics/errors.js'
import type { RequestDone } from '../../observe/metrics.js'
import type { TrustedProxies } from '../../setup/config.js'
import { requireSession } from '../routes/auth.js'
import { trustProxies } from '../protocol/client-address.js'
import { allowedMethods, refuseMethod } from './allowed-methods.js'
import { refuseNotBuilt } from './not-built.js'
import { handlerOf } from '../protocol/handle.js'
import { openApiDocument } from './openapi.js'
import { HeldBodies } from '../protocol/held-bodies.js'
import { refuseForeignHosts, type Hosts } from './hosts.js'
import { readJsonBody } from '../protocol/json-body.js'
import { identify, requestId } from '../protocol/origin.js'
import { problemHandler } from './problem.js'
import { refuseAsOf } from '../reads/reading.js'
import type { Route } from '../protocol/route.js'
import type { Sessions } from '../protocol/sessions.js'
import type { About } from '../routes/status.js'
import { welcome } from './welcome.js'

export type AppOptions = {
  ledger: Ledger
  routes: readonly Route[]
  about: About
  sessions: Sessions | undefined
  /** Whether metrics want no login. */
  openMetrics?: boolean
  hosts: Hosts
  /** Whose word about the client is taken; nobody's by default. */
  trustedProxies?: TrustedProxies
  logger: Logger
  /** Hears of each request when it is over. */
  onRequest?: (request: RequestDone) => void
}

/** `/api/v1/api/projects` and `/projects` are one address: every prefix of `api` and `v1` segments is taken off. */
const withoutPrefix: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(/^(?:\/(?:api|v1)(?=[/?]|$))+/, '').replace(/^(?!\/)/, '/')
  next()
}

/** The template of the route that a request met: `/projects/:project`. */
const routeOf = (req: Request): string | undefined => {
  const route: unknown = req.route
  const path: unknown = typeof route === 'object' && route !== null ? Reflect.get(route, 'path') : undefined
  return typeof path === 'string' ? path : undefined
}

const logged =
  (logger: Logger, onRequest: AppOptions['onRequest']): RequestHandler =>
  (req, res, next) => {
    const began = performance.now()
    // The query string is left out: it could carry what must not be logged.
    const path = req.path
    identify(req, res)
    res.setHeader('X-Content-Type-Options', 'nosniff')
    res.on('close', () => {
      const taken = performance.now() - began
      const milliseconds = Math.round(taken * 100) / 100
      onRequest?.({
        ...{ method: req.method, route: routeOf(req), status: res.writableFinished ? String(res.statusCode) : 'aborted' },
        ...{ seconds: taken / 1000, streamed: String(res.getHeader('content-type')).startsWith('text/event-stream') },
      })
      const line = {
        request: requestId(res),
        method: req.method,
        path,
        status: res.statusCode,
        ms: milliseconds,
        positions: res.locals['positions'] as unknown,
      }
      if (res.writableFinished) logger.info(line, 'request')
      else logger.info({ ...line, aborted: true }, 'request')
    })
    next()
  }

const unknownPath: RequestHandler = (req, res) => {
  if (req.method !== 'GET' && req.method !== 'HEAD') refuseMethod(req, res)
  throw new Problem('no_such_path', 'Not found', 'The endpoint you are trying to access does not exist on the server.', {
    hint: 'GET /api/openapi.json lists what there is.',
  })
}

/** The HTTP face of the service: routes behind identification, logging, authentication and one way to show errors. */
export const createApp = (options: AppOptions): Express => {
  const { ledger, routes, about, sessions, openMetrics = false, hosts, trustedProxies = false, logger, onRequest } = options
  const app = express()
  trustProxies(app, trustedProxies)
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(logged(logger, onRequest), refuseForeignHosts(hosts), withoutPrefix)
  if (sessions) app.use(requireSession(sessions, { openMetrics }))

  // Made when somebody asks: few do, and it takes a tenth of a start.
  let document: object | undefined
  app.get('/', welcome(about))
  app.get('/openapi.json', (_req, res) => {
    res.json((document ??= openApiDocument(routes, about.version)))
  })
  const bodies = new HeldBodies()
  for (const route of routes) {
    const handle = handlerOf(route, ledger)
    // The body is read where it is known what it may be, and after whoever must not come in was sent away.
    app[route.method](route.path, ...(route.takes ? [] : readJsonBody(route, bodies)), (req, res, next) => {
      refuseAsOf(req, route)
      return handle(req, res, next)
    })
  }
  app.use(allowedMethods(routes), refuseNotBuilt, unknownPath)
  app.use(problemHandler(logger))
  return app
}
