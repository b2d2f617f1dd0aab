import { isProblem } from '../basics/errors.js'
import type { AnalyticsStatus } from '../analytics/supervisor.js'
import type { Log } from '../log/contract/log.js'

/** Whether a part of the service can do its work; the reason says why not, and names no resource and no path. */
export type Readiness = {
  /** Reads and writes over REST. */
  rest: { ready: boolean; reason?: string }
  /**
   * How far the tables are, and how many events behind the log. `other_rows` is how often, since the service started, they did
   * not show what had been added to them: each time they were opened anew.
   */
  sql: { ready: boolean; reason?: string; position: number; lag: number; other_rows: number }
  log: { position: number | null; writable: boolean; reason?: string }
  /** What keeps nothing from being answered, but an operator has to know. Absent when there is nothing. */
  warnings?: string[]
}

type Parts = { warnings: () => string[]; log: Pick<Log, 'health'>; analytics: { status: () => AnalyticsStatus } }

const unreadable = (error: unknown): string => (isProblem(error) ? error.detail : 'the log cannot be read')

/**
 * Looks at every part. A log that could not be written is tried again now and then, so that this ends by itself.
 *
 * @example (await readiness({ log, analytics, warnings: () => [] })).sql // { ready: true, position: 120, lag: 0, other_rows: 0 }
 */
export const readiness = async ({ log, analytics, warnings }: Parts): Promise<Readiness> => {
  const { stopped, position, losses } = analytics.status()
  const health = await log.health().catch((error: unknown) => ({ position: null, unwritable: unreadable(error) }))
  const { unwritable } = health
  const head = health.position ?? position
  const warned = warnings()
  const reason = unwritable !== undefined && { reason: unwritable }
  return {
    rest: { ready: unwritable === undefined, ...reason },
    sql: {
      ...{ ready: stopped === undefined, ...(stopped !== undefined && { reason: stopped }) },
      ...{ position, lag: Math.max(0, head - position), other_rows: losses.other_rows },
    },
    log: { position: health.position, writable: unwritable === undefined, ...reason },
    ...(warned.length > 0 && { warnings: warned }),
  }
}
