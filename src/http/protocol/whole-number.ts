import type { Request } from 'express'
import { wrong } from '../../basics/errors.js'
import { queryValue } from './route.js'

/**
 * A whole number of the query string; undefined when it is missing.
 *
 * @example wholeNumber(req, 'limit', { least: 1, most: 1_000 }) // of ?limit=20: 20
 * @throws Problem 400 when it is none, or outside of these bounds
 */
export const wholeNumber = (req: Request, name: string, { least = 0, most = Infinity }: { least?: number; most?: number } = {}) => {
  const value = queryValue(req, name)
  if (value === undefined) return undefined
  const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN
  if (number >= least && number <= most) return number
  const bounds = most === Infinity ? `from ${least} on` : `from ${least} to ${most}`
  throw wrong(`the query parameter ${name} must be a whole number ${bounds}, not ${value}`)
}
