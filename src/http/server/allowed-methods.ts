import express, { type Request, type Response, type Router } from 'express'
import { Problem } from '../../basics/errors.js'
import type { Route } from '../protocol/route.js'

/** Addresses that are not among the routes. */
const ownAddresses = [
  { method: 'get', path: '/' },
  { method: 'get', path: '/openapi.json' },
] as const

const allowedAt = (res: Response): ReadonlySet<string> => {
  const known: unknown = res.locals['allowed']
  return known instanceof Set ? (known as ReadonlySet<string>) : new Set()
}

/**
 * Refuses a request whose method its address does not have, and says which it has. An address that is none has no method at all:
 * clients of the public service rely on 405 there for everything but GET.
 *
 * @throws Problem 405
 */
export const refuseMethod = ({ method }: Request, res: Response): never => {
  const allowed = [...allowedAt(res)].sort().join(', ')
  res.setHeader('Allow', allowed)
  throw new Problem(
    'method_not_allowed',
    'Method Not Allowed',
    `${method} is not allowed at this address`,
    allowed === '' ? {} : { hint: `It takes ${allowed}.` },
  )
}

/** Stands behind all routes: what comes here at an address of theirs has another method. Several routes may be of one address. */
export const allowedMethods = (routes: readonly Pick<Route, 'method' | 'path'>[]): Router => {
  const router = express.Router()
  for (const { method, path } of [...ownAddresses, ...routes])
    router.all(path, (_req, res, next) => {
      const names = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]
      res.locals['allowed'] = new Set([...allowedAt(res), ...names])
      next()
    })
  router.use((req, res, next) => {
    if (allowedAt(res).size > 0) refuseMethod(req, res)
    next()
  })
  return router
}
