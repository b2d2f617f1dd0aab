import { jobKind, type JobOutcome } from '../../events/job.js'
import { limits } from '../basics/limits.js'
import type { Resource, Log } from '../log/contract/log.js'
import { eventsOf } from '../log/read/slices.js'

/** A run as recorded in the log; without an end it is in progress. Times are UTC. */
export type RunRecord = { started_at: string; end: { finished_at: string; outcome: JobOutcome; error: string | null } | null }

/** The newest runs of a job up to its version, oldest first. */
export const readRuns = async (log: Pick<Log, 'readStream'>, { stream, version }: Resource<'job'>): Promise<RunRecord[]> => {
  // A run is two events.
  const after = Math.max(0, version - 2 * limits.jobHistoryMaxRuns)
  const runs = new Map<string, RunRecord>()
  for await (const { type, data, recorded_at } of eventsOf(log, stream, version, after)) {
    if (type === 'JobRunStarted') {
      const { run, started_at } = jobKind.schemas.JobRunStarted.parse(data)
      runs.set(run, { started_at, end: null })
    } else if (type === 'JobRunFinished') {
      const { run, outcome, error } = jobKind.schemas.JobRunFinished.parse(data)
      const begun = runs.get(run)
      if (begun) begun.end = { finished_at: recorded_at, outcome, error }
    }
  }
  return [...runs.values()]
}
