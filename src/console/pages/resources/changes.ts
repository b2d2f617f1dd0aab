import { json } from '../../api/request.js'
import type { KindInfo } from '../../basics/kinds.js'
import type { Operation } from '../../parts/diff.js'

/** A change of a resource, and what it changed. */
export type Change = {
  position: number
  version: number
  type: string
  recorded_at: string
  actor: string
  source: string
  diff: Operation[]
}

export type Changes = { changes: Change[]; next: number | null; version: number }

const changesMax = 1_000

/** The changes of a resource, the oldest first. @throws ApiError */
export const loadChanges = (info: KindInfo, path: string, at: string | undefined, signal: AbortSignal): Promise<Changes> =>
  json<Changes>(`${path}/history?${info.kind === 'job' ? 'of=changes&' : ''}limit=${changesMax}`, { at, signal })

const sets = ({ path, value }: Operation, member: string): boolean =>
  path === ''
    ? value !== null && typeof value === 'object' && !Array.isArray(value) && member in value
    : path === `/${member}` || path.startsWith(`/${member}/`)

/**
 * The change that gave a member of a resource what it has; undefined for what no change set, such as a number that is counted.
 *
 * @example blameOf(changes, 'params')?.actor // 'ann'
 */
export const blameOf = (changes: readonly Change[], member: string): Change | undefined =>
  changes.toReversed().find(({ diff }) => diff.some((operation) => sets(operation, member)))

/** Who changed something, and when, as one text. */
export const whoOf = ({ actor, recorded_at }: Change): string => `${actor}, ${recorded_at.slice(0, 16).replace('T', ' ')} UTC`
