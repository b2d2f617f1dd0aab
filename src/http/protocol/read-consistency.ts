import { Problem, wrong } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import type { Call } from './call.js'
import { positionHeader } from './request-headers.js'

const positionIn = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw wrong(
    `the header ${positionHeader} must be a position: a whole number`,
    'Use the position of an earlier answer, or leave the header out.',
  )
}

const notThere = (head: number, wanted: number): Problem =>
  new Problem('behind', 'Behind', `this node has the log up to position ${head}, and ${positionHeader} asks for ${wanted}`, {
    hint: 'Send the request again, or to another node.',
    retryAfterSeconds: 1,
  })

const atLeast = async (log: Log, wanted: number, readsLocally: boolean): Promise<void> => {
  await (readsLocally ? log.sinceHalt() : log.newest())
  const position = await headFor(log, wanted)
  if (position < wanted) throw notThere(position, wanted)
}

/**
 * The head of this node. If the node does not have a position yet, it first catches up with the others.
 *
 * @example if ((await headFor(log, 42)) < 42) … // no node has it
 * @throws Problem 503 when that takes too long
 */
export const headFor = async (log: Pick<Log, 'head' | 'newest'>, wanted: number): Promise<number> => {
  const { position } = await log.head()
  if (position >= wanted) return position
  await log.newest()
  return (await log.head()).position
}

/**
 * Resolves when this node has all events that a request must see: everything that any node acknowledged before. With local reads, it only
 * needs the events from before the last halt of this process. In both cases it needs the position in the request's header. Undefined if
 * there is nothing to wait for.
 *
 * @example const seen = seesNewest(call, log, false); if (seen) await seen
 * @throws Problem 400 when the header is no position; 503 when waiting takes too long
 */
export const seesNewest = (call: Pick<Call, 'header'>, log: Log, readsLocally: boolean): Promise<void> | undefined => {
  const wanted = call.header(positionHeader)
  if (wanted !== undefined) return atLeast(log, positionIn(wanted), readsLocally)
  return readsLocally ? log.sinceHalt() : log.newest()
}
