import { isProblem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { SqlProcessStatus } from '../sql-process/sql-process.js'
import type { Log, SharedHealth } from '../log/contract/log.js'
import type { TablesState } from '../sql/relations/projections.js'

/** Whether each part of the service is ready; the reason says why not, without names of resources or paths. */
export type Readiness = {
  /** Reads and writes over REST. */
  rest: { ready: boolean; reason?: string }
  /**
   * Whether the tables follow the log, are being built, or have stopped; their position, and the number of events that they are behind.
   * `other_rows` counts how often since the start they did not show rows that had been added; each time the tables were opened again.
   */
  sql: { ready: boolean; reason?: string; state: TablesState; position: number; lag: number; other_rows: number }
  /** Reads over REST. On a node that shares its log they may need PostgreSQL, or work without it. */
  reads: { ready: boolean; reason?: string }
  /** `shared` exists only on a node that shares its log: whether PostgreSQL answers, and how many events the node still has to follow. */
  log: { position: number | null; writable: boolean; reason?: string; shared?: SharedHealth }
  /** Warnings for an operator, even if every part works. Absent if there are no warnings. */
  warnings?: string[]
}

type Parts = {
  warnings: () => string[]
  log: Pick<Log, 'health'>
  sqlProcess: { status: () => SqlProcessStatus }
  readsLocally: boolean
}

const unreadable = (error: unknown): string => (isProblem(error) ? error.detail : 'the log cannot be read')

/**
 * The reason why a node should get no requests before it has caught up: its writes would wait, and its reads would be refused or outdated.
 */
const lagging = ({ lag: { batches, events } }: SharedHealth): string | undefined =>
  batches > limits.nodeLagMaxBatches
    ? `this node is ${batches} batches (${events} events) behind the others, and catches up (nodeLagMaxBatches)`
    : undefined

/**
 * Checks every part. After a failed write, the log tries again from time to time, so that state ends without an operator.
 *
 * @example (await readiness({ log, sqlProcess, warnings: () => [], readsLocally: false })).sql // { ready: true, state: 'following', position: 120, lag: 0, other_rows: 0 }
 */
export const readiness = async ({ log, sqlProcess, warnings, readsLocally }: Parts): Promise<Readiness> => {
  const { state, stopped, position, losses } = sqlProcess.status()
  const health = await log.health().catch((error: unknown) => ({ position: null, unwritable: unreadable(error), shared: undefined }))
  const { unwritable, shared } = health
  const lag = shared && lagging(shared)
  const mustWait = shared !== undefined && (shared.state !== 'following' || lag !== undefined) && !readsLocally
  const readable = health.position !== null && !mustWait
  const head = health.position ?? position
  const warned = warnings()
  const reason = unwritable !== undefined && { reason: unwritable }
  const served = unwritable ?? lag
  return {
    rest: { ready: served === undefined, ...(served !== undefined && { reason: served }) },
    sql: {
      ...{ ready: stopped === undefined, ...(stopped !== undefined && { reason: stopped }) },
      ...{ state, position, lag: Math.max(0, head - position), other_rows: losses.other_rows },
    },
    reads: { ready: readable, ...(!readable && served !== undefined && { reason: served }) },
    log: { position: health.position, writable: unwritable === undefined, ...reason, ...(shared && { shared }) },
    ...(warned.length > 0 && { warnings: warned }),
  }
}
