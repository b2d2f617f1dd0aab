import { json } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import type { KindInfo } from '../../basics/kinds.js'
import type { Operation } from '../../components/diff.js'
import { withOldValues } from './old-values.js'

/** A change of a resource, with its differences. */
export type Change = {
  position: number
  version: number
  type: string
  recorded_at: string
  actor: string
  source: string
  diff: Operation[]
}

/** Consecutive changes, the oldest first. */
export type Changes = {
  changes: Change[]
  /** The version before the first of them; 0 if there is none. */
  from: number
  /** The state at that version; null if there was none. */
  before: Value
  /** The number of all changes. */
  version: number
}

/** The resource whose changes are loaded, and the moment. */
export type ChangesOf = { info: KindInfo; path: string; at: string | undefined }

type Page = { before: Value; changes: Change[]; next: number | null; version: number }

/** The number of changes per request: the most that one page of the API has. */
const loadedMax = 1_000

const readPage = async ({ info, path, at }: ChangesOf, after: number, limit: number, signal?: AbortSignal): Promise<Page> => {
  const query = `${info.kind === 'job' ? 'of=changes&' : ''}after=${after}&limit=${limit}`
  const page = await json<Page>(`${path}/history?${query}`, { at, signal })
  return { ...page, changes: withOldValues(page.before, page.changes) }
}

/**
 * The last changes up to a version, as many as fit into one page: a page of large changes has fewer.
 *
 * @example (await loadUntil(of, 2_500, signal)).from // 1_500
 * @throws ApiError
 */
export const loadUntil = async (of: ChangesOf, until: number, signal?: AbortSignal): Promise<Changes> => {
  for (let count = Math.min(loadedMax, until); ;) {
    const from = until - count
    const { before, changes, version } = await readPage(of, from, count, signal)
    if (changes.length >= count || count === 1) return { changes, from, before, version }
    count = Math.max(1, Math.min(changes.length, Math.floor(count / 2)))
  }
}

/** The newest changes of a resource. @throws ApiError */
export const loadNewest = async (of: ChangesOf, signal?: AbortSignal): Promise<Changes> => {
  const { before, changes, next, version } = await readPage(of, 0, loadedMax, signal)
  return next === null ? { changes, from: 0, before, version } : loadUntil(of, version, signal)
}

/** The actor and the time of a change, as one text. */
export const whoOf = ({ actor, recorded_at }: Change): string => `${actor}, ${recorded_at.slice(0, 16).replace('T', ' ')} UTC`
