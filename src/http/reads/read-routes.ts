/**
 * Room: shared parts of routes that read. It imports only events, basics, vault, log, sql, commands/rules, connections/contract,
 * files/formats, models, agents/contract, jobs and http/protocol.
 */

import { instant } from '../../../events/stored/envelope.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { lastRecordedBy } from '../../log/read/bisect.js'
import type { Log, Resources } from '../../log/contract/log.js'
import { logAt, type LogAt } from '../../log/read/time-travel.js'
import { eventAt, readEvent } from '../../log/read/slices.js'
import { parseTime } from '../../basics/times.js'
import type { ReadTables } from './find-database.js'
import { Records } from './records.js'
import { value, whenText, type Parameters, type ValuesOf } from '../protocol/parameters.js'
import { headFor } from '../protocol/read-consistency.js'
import type { Reply } from '../protocol/reply.js'
import { route, type Input, type Route, type RouteOf } from '../protocol/route.js'

/** The state for a read: the log now or up to an earlier position, with the resources and records of that moment. */
export type Moment = LogAt & {
  readonly records: Records
  readonly connectedTables?: ReadTables | undefined
  /** The position of a moment in the past. */
  readonly position?: number
}

/** The parameter of every read. */
type AsOf = { readonly as_of: typeof asOf }

/** The definition of a read: it takes `as_of` besides its own query. */
export type ReadDefinition<Path extends string, Query extends Parameters, Content> = Omit<
  RouteOf<Path, Query, Content>,
  'method' | 'handle'
> & {
  handle: (input: Input<Path, Query, Content>, moment: Moment) => Promise<Reply>
}

/** Makes the route of a read. */
export type ReadRouteFactory = <const Path extends string, Query extends Parameters = Parameters, Content = undefined>(
  read: ReadDefinition<Path, Query, Content>,
) => Route

/** Reads resources as they were. @throws Problem when the tables are unavailable */
type PastReader = { resourcesAt: (position: number, client: string) => Resources }

/** A moment to read at: a position, or a time in the formats of `parseTime`. `positionOf` finds its position. */
export const asOf = value(
  whenText
    .max(limits.asOfMaxChars)
    .optional()
    .describe('a log position, or a time (YYYY-MM-DD [HH:MM[:SS]], UTC unless it has an offset): answers with the state of that moment'),
)

const example = 'as_of=42, as_of=2026-01-31T12:00:00Z; in an address the + of a zone is written %2B.'
const none = (detail: string, hint: string): Problem => new Problem('wrong_arguments', 'No such position', detail, { hint })

type Positions = Pick<Log, 'head' | 'newest' | 'now' | 'readAll'>

const positionAtTime = async (when: string, time: string, log: Positions): Promise<number> => {
  if (time > instant(log.now() + 1)) throw none(`as_of ${when} is in the future`, 'A time without a zone is UTC.')
  const position = await lastRecordedBy(log, time, (await log.head()).position)
  if (position > 0) return position
  const first = await eventAt(log, 1)
  const began = first ? `The log begins at ${readEvent(first).recorded_at}. ` : ''
  throw none(`as_of ${when} is before the start of the log`, `${began}A time without a zone is UTC.`)
}

/** The position that `as_of` names; a time names the last position recorded by then. @throws Problem 400 if there is none */
export const positionOf = async (when: string, log: Positions): Promise<number> => {
  if (when.length > limits.asOfMaxChars) throw none(`as_of has more than ${limits.asOfMaxChars} characters`, example)
  if (/^\d+$/.test(when)) {
    const position = Number(when)
    const head = await headFor(log, position)
    if (position >= 1 && position <= head) return position
    const where = position < 1 ? 'before the start' : 'beyond the head'
    throw none(`as_of ${when} is ${where} of the log`, `The log has the positions 1 to ${head}.`)
  }
  const time = parseTime(when)
  if (!time) throw none(`as_of ${JSON.stringify(when)} is neither a position nor a time`, example)
  return positionAtTime(when, instant(time.milliseconds, time.microseconds), log)
}

/** Reads of the past need the tables; reads of the present work without them, which the hint says. */
const withHintOfPresent = (error: unknown): never => {
  if (!isProblem(error) || error.code !== 'analytics_unavailable') throw error
  throw new Problem(error.code, error.title, error.detail, {
    retryAfterSeconds: 5,
    ...error.extras,
    hint: 'Without as_of the same address answers with the current state.',
  })
}

type ReadRouteOptions = { log: Log; present: Moment; past: PastReader; version: string }

/**
 * Returns a function that makes routes of reads. Each answers with the present state, or with `?as_of=` with the state at that
 * position, which the header `X-As-Of` names.
 *
 * @example
 * const reading = readingOf({ log, present, past: sql.reader, version })
 * reading({ path: '/files', summary, answers, handle: async (_, { resources }) => json(await resources.list('file')) })
 */
export const readingOf =
  ({ log, present, past, version }: ReadRouteOptions): ReadRouteFactory =>
  <const Path extends string, Query extends Parameters = Parameters, Content = undefined>({
    handle,
    ...read
  }: ReadDefinition<Path, Query, Content>): Route => {
    const asThen = async (when: string, input: Input<Path, Query, Content>): Promise<Reply> => {
      const { call } = input
      try {
        const position = await positionOf(when, log)
        call.answerHeaders['X-As-Of'] = String(position)
        const then = logAt(log, position, past.resourcesAt(position, call.client))
        return await handle(input, { ...then, records: new Records(then, version), position })
      } catch (error) {
        return withHintOfPresent(error)
      }
    }
    const query = { as_of: asOf, ...read.query } as Query & AsOf
    return route<Path, Query & AsOf, Content>({
      ...read,
      method: 'get',
      query,
      handle: (input) => {
        const when = (input.query as ValuesOf<AsOf>).as_of
        const own = input as unknown as Input<Path, Query, Content>
        return when === undefined ? handle(own, present) : asThen(when, own)
      },
    })
  }
