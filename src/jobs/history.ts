import type { StreamId } from '../../events/common.js'
import { jobKind, type JobOutcome } from '../../events/job.js'
import { limits } from '../basics/limits.js'
import type { Resource, Log } from '../log/contract/log.js'
import { eventsOf, streamEventsWith } from '../log/read/slices.js'

/** A run as recorded in the log, with the statements of the job at that time; without an end it is in progress. Times are UTC. */
export type RunRecord = {
  started_at: string
  query: string
  end: { finished_at: string; outcome: JobOutcome; error: string | null } | null
}

type RecordedEvent = { type: string; data: unknown }

/** The statements that an event gives to a job; undefined if it gives none. */
const queryIn = ({ type, data }: RecordedEvent): string | undefined => {
  if (type === 'JobCreated') return jobKind.schemas.JobCreated.parse(data).query
  return type === 'JobUpdated' ? jobKind.schemas.JobUpdated.parse(data).query : undefined
}

const mayGiveQuery = (text: string): boolean => /"type":"Job(?:Created|Updated)"/.test(text)

/** The statements of a job at a version. */
const queryAt = async (log: Pick<Log, 'readStream'>, stream: StreamId, version: number): Promise<string> => {
  let query = ''
  for await (const event of streamEventsWith(log, stream, 0, mayGiveQuery)) {
    if (event.version > version) break
    query = queryIn(event) ?? query
  }
  return query
}

/** The newest runs of a job up to its version, oldest first. */
export const readRuns = async (log: Pick<Log, 'readStream'>, { stream, version, state }: Resource<'job'>): Promise<RunRecord[]> => {
  // A run is two events.
  const after = Math.max(0, version - 2 * limits.jobHistoryMaxRuns)
  const runs = new Map<string, RunRecord>()
  /** The statements that the last event gave to the job, and the runs before the first such event. */
  let query: string | undefined
  const earliest: RunRecord[] = []
  for await (const event of eventsOf(log, stream, version, after)) {
    const { type, data, recorded_at } = event
    query = queryIn(event) ?? query
    if (type === 'JobRunStarted') {
      const { run, started_at } = jobKind.schemas.JobRunStarted.parse(data)
      const begun = { started_at, query: query ?? state.query, end: null }
      runs.set(run, begun)
      if (query === undefined) earliest.push(begun)
    } else if (type === 'JobRunFinished') {
      const { run, outcome, error } = jobKind.schemas.JobRunFinished.parse(data)
      const begun = runs.get(run)
      if (begun) begun.end = { finished_at: recorded_at, outcome, error }
    }
  }
  if (query !== undefined && earliest.length > 0) {
    const before = await queryAt(log, stream, after)
    for (const run of earliest) run.query = before
  }
  return [...runs.values()]
}
