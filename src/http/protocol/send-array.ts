import type { Response } from 'express'
import { jsonItems } from '../../basics/json-text.js'
import { leaving, taken } from './back-pressure.js'

/** So many items are one answer with its length; more go out as they are written down. */
const itemsInOne = 200

/**
 * Answers a JSON array: the bytes of `res.json(items)`. Many items are written down some at a time, as fast as the client takes
 * them, and others have the event loop in between.
 */
export const sendArray = async (res: Response, items: readonly unknown[]): Promise<void> => {
  if (items.length <= itemsInOne) {
    res.json(items)
    return
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  const gone = leaving(res)
  res.write('[')
  for await (const text of jsonItems(items)) {
    res.write(text)
    if (!(await taken(res, gone))) return
  }
  res.end(']')
}
