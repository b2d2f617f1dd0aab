import { select, type Value } from '../../api/sql.js'
import { pathOfResource } from '../../basics/kinds.js'
import { useLoaded, useRepeated } from '../../basics/loading.js'
import { hrefOf } from '../../basics/place.js'
import { Listing } from '../../components/listing.js'
import { Busy, Refusal } from '../../components/notice.js'

const runsMax = 20

type Run = { position: number; project: string; job: string; started_at: string; outcome: string; error: string | null } & Record<
  string,
  Value
>

/** The latest runs of jobs. They are loaded separately, because the rest of the page works even while SQL does not answer. */
export const JobRuns = ({ everyMs }: { everyMs: number }) => {
  const { loaded, reload } = useLoaded(
    (signal) =>
      select<Run>({
        query: `SELECT position, project, job, started_at, outcome, error FROM log.job_runs ORDER BY position DESC LIMIT ${runsMax}`,
        signal,
      }),
    [],
  )
  useRepeated(loaded, reload, everyMs)
  const { value: runs, error } = loaded.value
  return (
    <section aria-label="Runs of jobs">
      <h2>Runs of jobs</h2>
      {error && <Refusal error={error} again={reload} />}
      {!runs && !error && <Busy />}
      {runs?.length === 0 && <p class="quiet">No job has run.</p>}
      {runs && runs.length > 0 && (
        <Listing
          label="The last runs of jobs"
          keyOf={({ position }) => position}
          columns={[
            {
              title: 'Job',
              of: ({ project, job }) => (
                <a href={hrefOf(pathOfResource('job', project, job))}>
                  {project}.{job}
                </a>
              ),
            },
            { title: 'Began', of: ({ started_at }) => started_at.slice(0, 19) },
            { title: 'Outcome', isBad: ({ outcome }) => outcome === 'error' || outcome === 'interrupted', of: ({ outcome }) => outcome },
            { title: 'Why', isClipped: true, of: ({ error: why }) => why },
          ]}
          rows={runs}
        />
      )}
    </section>
  )
}
