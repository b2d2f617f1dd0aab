import { instant } from '../../../events/stored/envelope.js'
import { jobUnits, type Job, type JobSchedule, type JobUnit } from '../../../events/job.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

const lengths: Record<Exclude<JobUnit, 'month'>, number> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
}
const monthMs = 365.2425 * lengths.day * (1 / 12)

const unitNamed = (word: string): JobUnit | undefined => {
  const singular = word.toLowerCase().replace(/s$/, '')
  return singular === 'min' ? 'minute' : jobUnits.find((unit) => unit === singular)
}

const about = ({ count, unit }: Pick<JobSchedule, 'count' | 'unit'>): number => count * (unit === 'month' ? monthMs : lengths[unit])

/**
 * Reads how often a job runs.
 *
 * @example readSchedule('every 2 hours') // { count: 2, unit: 'hour', said: 'every 2 hours' }
 * @throws Problem wrong_arguments
 */
export const readSchedule = (said: string): JobSchedule => {
  const words = said.trim().split(/\s+/)
  if (/^every$/i.test(words[0] ?? '')) words.shift()
  const count = words.length > 1 && /^\d{1,9}$/.test(words[0] ?? '') ? Number(words.shift()) : 1
  const unit = unitNamed(words[0] ?? '')
  if (words.length !== 1 || unit === undefined)
    throw wrong(`"${said}" does not say how often`, 'every [n] minutes, hours, days, weeks or months: every day, every 15 minutes.')
  const interval = about({ count, unit })
  if (interval < limits.jobIntervalMinMs || interval > limits.jobIntervalMaxMs)
    throw wrong(`"${said}" is not between one minute and one hundred years`, 'Choose another interval.')
  return { count, unit, said: /^every\s/i.test(said.trim()) ? said.trim() : `every ${said.trim()}` }
}

const monthsAfter = (start: number, months: number): number => {
  const from = new Date(start)
  const first = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1)
  const days = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0)).getUTCDate()
  // In a month without a 31st, the last day is used; later months use their 31st again.
  return first + (Math.min(from.getUTCDate(), days) - 1) * lengths.day + (start % lengths.day)
}

const runAt = (start: number, { count, unit }: JobSchedule, n: number): number =>
  unit === 'month' ? monthsAfter(start, n * count) : start + n * count * lengths[unit]

/** The first time of a job later than `after`. Its times are counted from its start. */
export const nextAfter = (start: number, schedule: JobSchedule, after: number): number => {
  let n = Math.max(0, Math.floor((after - start) / about(schedule)) - 1)
  while (runAt(start, schedule, n) <= after) n += 1
  return n === 0 ? start : runAt(start, schedule, n)
}

/**
 * Whether the last run of a job began in the future: the clock was ahead then, so the next time computed from it is wrong.
 * A job without a schedule has run once and never runs again.
 */
export const ranAhead = ({ schedule, last_started_at }: Pick<Job, 'schedule' | 'last_started_at'>, now: number): boolean =>
  schedule !== null && last_started_at !== null && Date.parse(last_started_at) > now + limits.clockJumpMinMs

/** When a job is due next; null if it has no further run. */
export const dueAt = (job: Job, now: number): string | null => (ranAhead(job, now) ? nextRun(job, now) : job.next_run_at)

/** `next_run_at` of a job whose run begins at `now`: null when that was the last one. */
export const nextRun = (job: { start_at: string; end_at: string | null; schedule: JobSchedule | null }, now: number): string | null => {
  if (!job.schedule) return null
  const next = nextAfter(Date.parse(job.start_at), job.schedule, now)
  return job.end_at !== null && next > Date.parse(job.end_at) ? null : instant(next)
}

type Times = Pick<Job, 'start_at' | 'end_at' | 'schedule'>

const areSame = (one: JobSchedule | null, other: JobSchedule | null): boolean => one?.count === other?.count && one?.unit === other?.unit

/** The first time of a job later than `after`. Without a schedule a job runs once, so it is due until it has run. */
const firstTime = ({ start_at, schedule }: Times, lastStarted: string | null, after: number): string | null => {
  const start = Date.parse(start_at)
  if (start > after) return start_at
  if (schedule) return instant(nextAfter(start, schedule, after))
  return lastStarted === null ? start_at : null
}

/**
 * `next_run_at` of a job whose times change at `now`: the first of its new times after that, or a new start that is now; null if there is
 * none. Another end alone moves no run, not even one that is due and has not begun.
 */
export const nextAsChanged = (before: Job, after: Times, now: string): string | null => {
  const hasNewStart = before.start_at !== after.start_at
  const isMoved = hasNewStart || !areSame(before.schedule, after.schedule)
  const from = Date.parse(now) - (hasNewStart ? 1 : 0)
  const next = (isMoved ? null : before.next_run_at) ?? firstTime(after, before.last_started_at, from)
  return next !== null && after.end_at !== null && next > after.end_at ? null : next
}
