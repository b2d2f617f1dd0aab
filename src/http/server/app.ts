/**
 * Room: the HTTP server: it finds the route of a request and sends the reply. It imports only basics, setup, log/contract, commands,
 * sql/contract, observe, http/protocol, http/login and http/routes.
 */

import express, { type Express, type Request, type Response } from 'express'
import { limitOf } from '../../basics/errors.js'
import type { Logger } from '../../basics/logger.js'
import type { Ledger } from '../../commands/ledger.js'
import type { Log } from '../../log/contract/log.js'
import type { CompletedRequest } from '../../observe/metrics.js'
import type { TrustedProxies } from '../../setup/config.js'
import { callerOf } from '../login/caller.js'
import type { Sessions } from '../login/sessions.js'
import { Call } from '../protocol/call.js'
import { trustProxies } from '../protocol/client.js'
import { answer } from '../protocol/handle.js'
import { readJsonBody, HeldBodies } from '../protocol/json-body.js'
import { jsonText, type Reply } from '../protocol/reply.js'
import { bodySizeOf, type Route, type Segments } from '../protocol/route.js'
import type { ServiceInfo } from '../routes/status.js'
import { consoleAsset } from './console.js'
import { refuseForeignHosts, type Hosts } from './hosts.js'
import { readsEvents, refuseNotBuilt } from './not-built.js'
import { openApiDocument } from './openapi.js'
import { asProblem, logFault, problemAsEvents, problemReply } from './problem.js'
import { RouteTable } from './route-table.js'
import { send } from './send.js'
import { refuseMethod, unknownPath } from './unmatched.js'
import { welcome } from './welcome.js'

export type AppOptions = {
  ledger: Ledger
  log: Log
  routes: readonly Route[]
  about: ServiceInfo
  sessions: Sessions | undefined
  /** Whether metrics need no login. */
  openMetrics?: boolean
  /** Whether requests see only the data of this node, without waiting for other nodes. */
  readsLocally?: boolean
  hosts: Hosts
  /** The proxies whose forwarded headers are trusted; none by default. */
  trustedProxies?: TrustedProxies
  logger: Logger
  /** Called for each request when it has ended. */
  onRequest?: (request: CompletedRequest) => void
}

/** `/api/v1/api/projects` and `/projects` are the same path: all leading `api` and `v1` segments are removed. */
const withoutPrefix = (url: string): string => {
  const rest = url.replace(/^(?:\/(?:api|v1)(?=[/?]|$))+/, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** A path as it is logged: without the token of a webhook. */
const shownPath = (path: string): string => path.replace(/(\/webhooks\/chatbots\/)[^/]+/i, '$1…')

/**
 * Lets an Express application answer every request by one function. Express's router would search its list for that function, which
 * costs more than the route table's own search. Requests and responses are Express's, with the application's settings.
 */
const withoutRouter = (app: Express, answer: (req: Request, res: Response) => void): Express => {
  const handle = (req: Request, res: Response): void => {
    // What Express does with both before it routes a request.
    Object.setPrototypeOf(req, app.request)
    Object.setPrototypeOf(res, app.response)
    req.res = res
    res.req = req
    req.originalUrl = req.url
    answer(req, res)
  }
  return Object.assign(app, { handle })
}

/** Logs a request when it has ended. */
const logged = (call: Call, res: Response, { logger, onRequest }: AppOptions): void => {
  const began = performance.now()
  // The query string is left out, because it could contain data that must not be logged.
  const { path, method } = call
  res.on('close', () => {
    const taken = performance.now() - began
    const isWhole = res.writableFinished
    onRequest?.({
      ...{ method, route: call.route, status: isWhole ? String(res.statusCode) : 'aborted', seconds: taken / 1000 },
      streamed: call.answerType?.startsWith('text/event-stream') ?? false,
      limit: call.limitHit,
    })
    const ms = Math.round(taken * 100) / 100
    const line = { request: call.id, method, path: shownPath(path), status: res.statusCode, ms, positions: call.positions }
    logger.info(isWhole ? line : { ...line, aborted: true }, 'request')
  })
}

/** A route that the router can match, documented or not. */
type Endpoint = Pick<Route, 'refusal'> & {
  method: string
  path: string
  answer: (call: Call, res: Response, segments: Segments) => Promise<Reply>
}

/** Endpoints that are not in the OpenAPI document: the document itself, and the console with its files. */
const ownEndpoints = (routes: readonly Route[], about: ServiceInfo): Endpoint[] => {
  // Made on demand: it is rarely needed, and takes a tenth of the startup time.
  let document: string | undefined
  return [
    { method: 'get', path: '/', answer: (call) => welcome(about, call) },
    {
      method: 'get',
      path: '/assets/:asset',
      answer: async (call, _, segments) => (await consoleAsset(call, segments['asset'] ?? '')) ?? unknownPath(call),
    },
    {
      method: 'get',
      path: '/openapi.json',
      answer: async () => jsonText((document ??= JSON.stringify(openApiDocument(routes, about.version)))),
    },
  ]
}

/** The endpoints of routes. A body is read only after authentication, when the route and its limits are known. */
const endpointsOf = ({ routes, ...parts }: AppOptions): Endpoint[] => {
  const bodies = new HeldBodies()
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    ...(route.refusal && { refusal: route.refusal }),
    answer: async (call, res, segments) => {
      if (!route.takes) call.json = await readJsonBody(call, res, bodySizeOf(route), bodies)
      return answer(route, parts, call, segments)
    },
  }))
}

/** The HTTP interface of the service: the routes with logging, authentication and error handling. */
export const createApp = (options: AppOptions): Express => {
  const { routes, about, sessions, openMetrics = false, hosts, trustedProxies = false, logger } = options
  const table = new RouteTable([...ownEndpoints(routes, about), ...endpointsOf(options)])
  const refuseForeign = refuseForeignHosts(hosts)

  const replyTo = async (call: Call, res: Response): Promise<Reply> => {
    const { incoming } = call
    refuseForeign(incoming)
    incoming.url = withoutPrefix(incoming.url)
    if (sessions) call.caller = await callerOf(sessions, { openMetrics }, call)
    const match = table.find(call.method, call.path)
    if (!match) {
      refuseNotBuilt(call)
      return unknownPath(call)
    }
    call.route = match.template
    call.refusal = match.found?.refusal
    return match.found ? match.found.answer(call, res, match.segments) : refuseMethod(call, match.allowed)
  }

  const refusalOf = (error: unknown, call: Call): Reply => {
    const problem = asProblem(error)
    logFault(logger, error, problem, call.id)
    call.limitHit = limitOf(problem)
    return call.refusal?.(problem, call) ?? (readsEvents(call) ? problemAsEvents(problem, call.id) : problemReply(problem, call.id))
  }

  const answerCall = async (req: Request, res: Response): Promise<void> => {
    const call = new Call(req, res)
    logged(call, res, options)
    const tell = (reply: Reply): Promise<void> => {
      call.answerType = reply.type
      return send(res, reply, call.answerHeaders)
    }
    try {
      await tell(await replyTo(call, res))
    } catch (error) {
      // A client that disconnects is not a fault; the request's log line says so.
      if (call.left(error)) return
      const refusal = refusalOf(error, call)
      // A stream that has begun can only be cut, so that the client does not take it for complete.
      if (res.headersSent) res.destroy()
      else await tell(refusal)
    }
  }

  const app = express()
  trustProxies(app, trustedProxies)
  app.disable('x-powered-by')
  app.disable('etag')
  return withoutRouter(app, (req, res) => {
    answerCall(req, res).catch((error: unknown) => {
      logger.error({ err: error }, 'a refusal could not be sent')
      res.destroy()
    })
  })
}
