import { json } from '../../../api/request.js'
import type { Value } from '../../../api/sql.js'
import { apiPathOf, type KindInfo } from '../../../basics/kinds.js'
import { mask } from '../../../basics/secrets.js'

type Members = Record<string, Value>

/** The values that a new job takes over from another one. */
export type Likeness = { project: string; name: string; values: Members; hasSecrets: boolean }

/** A time of a record, which is UTC, without zeros at its end. A time in the past is left out: a job with such a start runs at once. */
const timeToCome = (time: Value | undefined): Value => {
  if (typeof time !== 'string' || Date.parse(`${time.replace(' ', 'T')}Z`) < Date.now()) return null
  return time.replace(/\.0+$/, '')
}

/**
 * The values of a new job that does what another one does, from the next run of that one on. Two jobs of a project cannot have the same
 * name, so the new job has none yet.
 *
 * @example (await loadLikeness(info, 'shop', 'nightly', signal)).values // { query: 'SELECT 1', schedule_str: 'every day', … }
 * @throws ApiError
 */
export const loadLikeness = async (info: KindInfo, project: string, name: string, signal: AbortSignal): Promise<Likeness> => {
  const { query = null, if_query = null, schedule_str = null, ...record } = await json<Members>(apiPathOf(info, project, name), { signal })
  const times = { start_at: timeToCome(record['next_run_at']), end_at: timeToCome(record['end_at']) }
  return {
    project,
    name,
    values: { query, if_query, ...times, schedule_str },
    hasSecrets: JSON.stringify([query, if_query]).includes(mask),
  }
}
