import { column, heldAt, nocase, type Relation } from './relation.js'

/** Each run with the name of its job at that time, and its end if this is known by `$position`. */
const runs = `
    FROM ledger.job_runs_started AS s
    LEFT JOIN ledger.job_runs_finished AS f ON f.job = s.job AND f.run = s.run AND f.position <= $position
    LEFT JOIN ledger.jobs_history AS j
      ON j.stream = s.job AND ${heldAt('j', 's.position')}
    LEFT JOIN ledger.projects_history AS p
      ON p.stream = j.project AND ${heldAt('p', 's.position')}
    WHERE s.position <= $position`

/** Every run of every job. */
export const jobRuns: Relation = {
  name: 'job_runs',
  about: 'Runs of jobs: one row for each, with any outcome.',
  kind: 'BASE TABLE',
  columns: [
    column('position', 'BIGINT', 'Position of the event that began the run.'),
    column('finished_position', 'BIGINT', 'Position of the event that ended the run; empty while it is under way.'),
    column('run', 'VARCHAR', 'Id of the run; the events that its statements recorded have it as correlation.'),
    column('project', 'VARCHAR', 'Project of the job, by its name at that time.'),
    column('job', 'VARCHAR', 'Name of the job at that time.'),
    column('job_id', 'VARCHAR', 'Stream of the job.'),
    column('actor', 'VARCHAR', 'Actor of the statements.'),
    column('due_at', 'TIMESTAMP', 'When the run was due (UTC).'),
    column('started_at', 'TIMESTAMP', 'When the run began (UTC).'),
    column('finished_at', 'TIMESTAMP', 'When the end of the run was recorded (UTC); empty while it is under way.'),
    column(
      'outcome',
      'VARCHAR',
      'running, complete, skipped (the condition returned no row), error, interrupted (the service stopped) or cancelled (the job was deleted).',
    ),
    column('error', 'VARCHAR', 'Why the run did not complete.'),
    column('query', 'VARCHAR', 'Statements of the job at that time; secrets show as ******.'),
    column(
      'statements',
      'VARCHAR',
      'Result of each statement, as JSON text: positions of its events, and its error. The first run also has an entry for each statement that did not run, up to the last one with LAST.',
    ),
  ],
  sql: `
    SELECT s.position, f.position AS finished_position, s.run, ${nocase('p.name')} AS project, ${nocase('j.name')} AS job, s.job AS job_id,
      s.actor, s.due_at, s.started_at, f.finished_at, coalesce(f.outcome, 'running') AS outcome, f.error, j.query,
      CAST(f.statements AS VARCHAR) AS statements${runs}
    ORDER BY s.position`,
}

/** The same in the form that clients read, for one project or for all. */
export const jobsHistory: Relation = {
  name: 'jobs_history',
  about: 'Runs of jobs, without those that their condition skipped; log.job_runs has more about each.',
  kind: 'BASE TABLE',
  columns: [
    column('NAME', 'VARCHAR', 'Name of the job at that time; compared without case.'),
    column('PROJECT', 'VARCHAR', 'Project of the job at that time.'),
    column('RUN_START', 'TIMESTAMP', 'When the run began (UTC).'),
    column('RUN_END', 'TIMESTAMP', 'When the end of the run was recorded (UTC); empty while it is under way.'),
    column('ERROR', 'VARCHAR', 'Why the run did not complete.'),
    column('QUERY', 'VARCHAR', 'Statements of the job at that time; secrets show as ******.'),
  ],
  sql: `
    SELECT ${nocase('j.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", s.started_at AS "RUN_START", f.finished_at AS "RUN_END",
      f.error AS "ERROR", j.query AS "QUERY"${runs} AND f.outcome IS DISTINCT FROM 'skipped' AND ($project IS NULL OR j.project = $project)
    ORDER BY s.position`,
}
