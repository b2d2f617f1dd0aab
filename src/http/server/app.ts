import express, { type Express, type Response } from 'express'
import type { Logger } from 'pino'
import type { Ledger } from '../../commands/ledger.js'
import type { RequestDone } from '../../observe/metrics.js'
import type { TrustedProxies } from '../../setup/config.js'
import { Call } from '../protocol/call.js'
import { trustProxies } from '../protocol/client.js'
import { answer } from '../protocol/handle.js'
import { HeldBodies } from '../protocol/held-bodies.js'
import { readJsonBody } from '../protocol/json-body.js'
import { jsonText, type Reply } from '../protocol/reply.js'
import { bodySizeOf, type Route, type Segments } from '../protocol/route.js'
import type { Sessions } from '../protocol/sessions.js'
import { callerOf } from '../routes/auth.js'
import type { About } from '../routes/status.js'
import { refuseForeignHosts, type Hosts } from './hosts.js'
import { notBuiltReply } from './not-built.js'
import { openApiDocument } from './openapi.js'
import { asProblem, logFault, problemReply } from './problem.js'
import { RouteTable } from './route-table.js'
import { send } from './send.js'
import { refuseMethod, unknownPath } from './unmatched.js'
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
const withoutPrefix = (url: string): string => url.replace(/^(?:\/(?:api|v1)(?=[/?]|$))+/, '').replace(/^(?!\/)/, '/')

/** Logs a request when it is over. */
const logged = (call: Call, res: Response, { logger, onRequest }: AppOptions): void => {
  const began = performance.now()
  // The query string is left out: it could carry what must not be logged.
  const { path, method } = call
  res.on('close', () => {
    const taken = performance.now() - began
    const isWhole = res.writableFinished
    onRequest?.({
      ...{ method, route: call.route, status: isWhole ? String(res.statusCode) : 'aborted', seconds: taken / 1000 },
      streamed: String(res.getHeader('content-type')).startsWith('text/event-stream'),
    })
    const ms = Math.round(taken * 100) / 100
    const line = { request: call.id, method, path, status: res.statusCode, ms, positions: call.positions }
    logger.info(isWhole ? line : { ...line, aborted: true }, 'request')
  })
}

/** What is at an address, documented or not. */
type Endpoint = { method: string; path: string; answer: (call: Call, res: Response, segments: Segments) => Promise<Reply> }

/** Addresses that the document does not have: the document itself, and what a newcomer sees. */
const ownEndpoints = (routes: readonly Route[], about: About): Endpoint[] => {
  // Made when somebody asks: few do, and it takes a tenth of a start.
  let document: string | undefined
  return [
    { method: 'get', path: '/', answer: async (call) => welcome(about, call) },
    {
      method: 'get',
      path: '/openapi.json',
      answer: async () => jsonText((document ??= JSON.stringify(openApiDocument(routes, about.version)))),
    },
  ]
}

/** The addresses of routes: a body is read where it is known what it may be, and after whoever must not come in was sent away. */
const endpointsOf = (routes: readonly Route[], ledger: Ledger): Endpoint[] => {
  const bodies = new HeldBodies()
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    answer: async (call, res, segments) => {
      if (!route.takes) call.json = await readJsonBody(call, res, bodySizeOf(route), bodies)
      return answer(route, ledger, call, segments)
    },
  }))
}

/** The HTTP face of the service: routes behind identification, logging, authentication and one way to show errors. */
export const createApp = (options: AppOptions): Express => {
  const { ledger, routes, about, sessions, openMetrics = false, hosts, trustedProxies = false, logger } = options
  const table = new RouteTable([...ownEndpoints(routes, about), ...endpointsOf(routes, ledger)])
  const refuseForeign = refuseForeignHosts(hosts)

  const replyTo = async (call: Call, res: Response): Promise<Reply> => {
    const { incoming } = call
    refuseForeign(incoming)
    incoming.url = withoutPrefix(incoming.url)
    if (sessions) call.caller = callerOf(sessions, { openMetrics }, call)
    const match = table.find(call.method, call.path)
    if (!match) return notBuiltReply(call) ?? unknownPath(call)
    call.route = match.template
    return match.found ? match.found.answer(call, res, match.segments) : refuseMethod(call, match.allowed)
  }

  const refusalOf = (error: unknown, call: Call): Reply => {
    const problem = asProblem(error)
    logFault(logger, error, problem, call.id)
    return problemReply(problem, call.id)
  }

  const app = express()
  trustProxies(app, trustedProxies)
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(async (req, res) => {
    const call = new Call(req, res)
    logged(call, res, options)
    try {
      await send(res, await replyTo(call, res), call.answerHeaders)
    } catch (error) {
      // That the client went away is said in the request's own line, and is no fault.
      if (call.left(error)) return
      const refusal = refusalOf(error, call)
      // A stream that has begun can only be cut: the client must not take it for whole.
      if (res.headersSent) res.destroy()
      else await send(res, refusal, call.answerHeaders)
    }
  })
  return app
}
