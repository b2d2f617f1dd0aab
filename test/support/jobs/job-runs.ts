import { v7 as uuidv7 } from 'uuid'
import { streamId, type StreamId } from '../../../events/common.js'
import { limits } from '../../../src/basics/limits.js'
import type { NewEvent } from '../../../src/log/contract/log.js'

const instant = '2026-01-01T00:00:00.000000Z'
const statementsOfRun = 100

/** The events of a job with a query of so many characters, and of its runs. Each run has many statements. */
export const jobWithRuns = (project: StreamId, name: string, size: { chars: number; runs: number }): NewEvent[] => {
  const stream = streamId.parse(uuidv7())
  const times = { start_at: instant, end_at: null, schedule: null }
  const data = { project, name, query: `SELECT '${'x'.repeat(size.chars)}'`, if_query: null, sealed: null, ...times }
  const last = [{ column: 'text', type: 'VARCHAR', value: 'x'.repeat(limits.jobLastMaxChars) }]
  const statements = Array.from({ length: statementsOfRun }, () => ({ positions: [], error: null, last }))
  const events: NewEvent['event'][] = [{ type: 'JobCreated', data }]
  for (let run = 1; run <= size.runs; run++) {
    const id = String(run)
    events.push(
      { type: 'JobRunStarted', data: { run: id, due_at: instant, started_at: instant, next_run_at: null } },
      { type: 'JobRunFinished', data: { run: id, outcome: 'complete', error: null, statements } },
    )
  }
  return events.map((event) => ({ stream, event }))
}
