import { select, streamOf, type Value } from '../api/sql.js'
import { pathOfResource } from '../basics/kinds.js'
import { useLoaded, useRepeated } from '../basics/loading.js'
import { hrefOf, momentShown } from '../basics/place.js'
import { Listing } from './listing.js'
import { Busy, Refusal } from '../components/notice.js'
import { numberShown, pageOf, PageLinks } from './page-links.js'

const pageRuns = 20

type Run = { position: number; project: string; job: string; started_at: string; outcome: string; error: string | null } & Record<
  string,
  Value
>

const query = `SELECT position, project, job, started_at, outcome, error FROM log.job_runs
  WHERE (:name::VARCHAR IS NULL OR job_id = ${streamOf('job')}) AND (:until::BIGINT IS NULL OR position <= :until)
  ORDER BY position DESC LIMIT ${pageRuns + 1}`

const jobColumn = {
  title: 'Job',
  of: ({ project, job }: Run) => (
    <a href={hrefOf(pathOfResource('job', project, job))}>
      {project}.{job}
    </a>
  ),
}

type Props = {
  /** The job whose runs are shown, page by page; by default the last runs of all jobs are shown. */
  job?: { project: string; name: string }
  /** The time between two looks, in ms; by default there is one look. */
  everyMs?: number | undefined
}

/**
 * The runs of a job or of all jobs, the newest first.
 *
 * @example <JobRuns job={{ project: 'shop', name: 'backup' }} />
 */
export const JobRuns = ({ job, everyMs }: Props) => {
  const at = job && momentShown()
  const until = job ? numberShown('position') : null
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const params = { project: job?.project ?? null, name: job?.name ?? null, until }
      return pageOf(await select<Run>({ query, params, at, signal }), pageRuns)
    },
    [job?.project, job?.name, until, at],
  )
  useRepeated(loaded, reload, everyMs)
  const { value, error } = loaded.value
  return (
    <section aria-label="Runs of jobs">
      {!job && <h2>Runs of jobs</h2>}
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.rows.length === 0 && <p class="quiet">{job ? 'It has not run.' : 'No job has run.'}</p>}
      {value && value.rows.length > 0 && (
        <Listing
          label={job ? 'Runs of the job' : 'The last runs of jobs'}
          keyOf={({ position }) => position}
          columns={[
            ...(job ? [] : [jobColumn]),
            {
              title: 'Began',
              of: ({ position, started_at }) => <a href={hrefOf('/events', { position: String(position) })}>{started_at.slice(0, 19)}</a>,
            },
            { title: 'Outcome', isBad: ({ outcome }) => outcome === 'error' || outcome === 'interrupted', of: ({ outcome }) => outcome },
            { title: 'Why', isClipped: true, of: ({ error: why }) => why },
          ]}
          rows={value.rows}
        />
      )}
      {job && value && (
        <PageLinks name="position" start={value.next?.position} end="There is no earlier run." isEmpty={value.rows.length === 0} />
      )}
      {!job && value?.next && <p class="quiet">The page of a job has all its runs.</p>}
    </section>
  )
}
