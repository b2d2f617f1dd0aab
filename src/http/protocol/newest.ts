import { Problem, wrong } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import type { Call } from './call.js'
import { positionHeader } from './command-headers.js'

const positionIn = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw wrong(
    `the header ${positionHeader} must be a position: a whole number`,
    'It is that of an earlier answer; leave it out to see what is there.',
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
 * The head of this node, which first gets what others wrote if it does not have a position yet.
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
 * Resolves when this node has what a request must see: all that any node acknowledged before; where reads are local, before
 * this process went on after a halt; and in any case the position that its header names. Undefined when there is nothing to wait for.
 *
 * @example const seen = seesNewest(call, log, false); if (seen) await seen
 * @throws Problem 400 when the header is no position; 503 when waiting takes too long
 */
export const seesNewest = (call: Pick<Call, 'header'>, log: Log, readsLocally: boolean): Promise<void> | undefined => {
  const wanted = call.header(positionHeader)
  if (wanted !== undefined) return atLeast(log, positionIn(wanted), readsLocally)
  return readsLocally ? log.sinceHalt() : log.newest()
}
