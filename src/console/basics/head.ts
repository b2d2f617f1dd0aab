import { select } from '../api/sql.js'

/**
 * The last position of the log at a moment, a position or a time; 0 for an empty log.
 *
 * @example await headAt('2026-01-31 12:00:00', signal) // 1042
 * @throws ApiError for a moment that does not exist
 */
export const headAt = async (at: string | undefined, signal: AbortSignal): Promise<number> => {
  const [head] = await select<{ p: number | null }>({ query: 'SELECT max(position) AS p FROM log.events', at, signal })
  return head?.p ?? 0
}
