import { ApiError, json } from '../../api/request.js'
import { isObject, memberOf, select, type Value } from '../../api/sql.js'
import { headAt } from '../../basics/head.js'
import { apiPathOf, kindNamed, type KindInfo } from '../../basics/kinds.js'
import type { Operation } from '../../components/diff.js'

export type Moments = { from: string; to: string | undefined }

/** The change of a resource between two moments. */
export type ResourceChange = {
  kind: string
  project: string | null
  name: string
  /** Its previous names, if it or its project was renamed. */
  before: { project: string | null; name: string } | null
  became: 'created' | 'changed' | 'deleted'
  events: number
}

type ResourceRow = { stream: string; kind: string; project: string | null; name: string } & Record<string, Value>

/** The moment before the first event. The service reads at positions from 1 on. */
const beginning = '0'

/** The most resources whose changes are listed. */
const changedMax = 1_000

const listAt = async (at: string | undefined, streams: readonly string[], signal: AbortSignal): Promise<ResourceRow[]> =>
  at === beginning
    ? []
    : select<ResourceRow>({
        query: `SELECT stream, kind, project, name FROM log.resources WHERE list_contains(:streams::VARCHAR[], stream)`,
        params: { streams: [...streams] },
        at,
        signal,
      })

/**
 * The resources that changed between two moments, and the number of their events. The first moment may be 0, before the first event.
 *
 * @example await loadChanges({ from: '40', to: undefined }, signal)
 * @throws ApiError for a moment that does not exist, and if the first moment is after the second one
 */
export const loadChanges = async (
  { from, to }: Moments,
  signal: AbortSignal,
): Promise<{ changed: ResourceChange[]; isCut: boolean; events: number }> => {
  const [first, last] = [from === beginning ? 0 : await headAt(from, signal), await headAt(to, signal)]
  if (first > last)
    throw new ApiError({
      ...{ status: 0, detail: `the first moment is at position ${first}, after the second one at position ${last}` },
      hint: 'Exchange the two moments.',
    })
  if (first === last) return { changed: [], isCut: false, events: 0 }
  // Other streams have records, such as answers, and events of other programs.
  const ofResources = [first, last].filter((at) => at > 0).map((at) => `SELECT stream FROM log.resources AT (VERSION => ${at})`)
  const counted = await select<{ stream: string; n: number }>({
    query: `SELECT stream, count(*) AS n FROM log.events
      WHERE position > :first AND position <= :last AND stream IN (${ofResources.join(' UNION ')})
      GROUP BY stream ORDER BY max(position) DESC LIMIT ${changedMax + 1}`,
    params: { first, last },
    signal,
  })
  const some = counted.slice(0, changedMax)
  const streams = some.map(({ stream }) => stream)
  const [then, now] = await Promise.all([listAt(from, streams, signal), listAt(to, streams, signal)])
  const [old, present] = [new Map(then.map((one) => [one.stream, one])), new Map(now.map((one) => [one.stream, one]))]
  const changed = some.flatMap(({ stream, n }): ResourceChange[] => {
    const [before, after] = [old.get(stream), present.get(stream)]
    const one = after ?? before
    if (!one) return []
    const { kind, project, name } = one
    const renamed = before && (before.name !== name || before.project !== project) ? before : null
    return [{ kind, project, name, before: renamed, became: !before ? 'created' : after ? 'changed' : 'deleted', events: n }]
  })
  return { changed, isCut: counted.length > changedMax, events: changed.reduce((sum, { events }) => sum + events, 0) }
}

type Resource = Record<string, Value>

/** The differences between two values, member by member. */
const differences = (before: Value | undefined, after: Value | undefined, path: string): Operation[] => {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      differences(memberOf(before, name), memberOf(after, name), `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    )
  if (after === undefined) return [{ op: 'remove', path, ...(before !== undefined && { was: before }) }]
  return [before === undefined ? { op: 'add', path, value: after } : { op: 'replace', path, value: after, was: before }]
}

const recordAt = (info: KindInfo, project: string | null, name: string, at: string | undefined, signal: AbortSignal) =>
  json<Resource>(apiPathOf(info, project ?? '', name), { at, signal })

/** The differences in the record of a resource. @throws ApiError */
export const loadDifferences = async (
  { kind, project, name, before, became }: ResourceChange,
  { from, to }: Moments,
  signal: AbortSignal,
): Promise<Operation[]> => {
  const info = kindNamed(kind)
  if (!info) return []
  const was = before ?? { project, name }
  const [old, present] = await Promise.all([
    became === 'created' ? undefined : recordAt(info, was.project, was.name, from, signal),
    became === 'deleted' ? undefined : recordAt(info, project, name, to, signal),
  ])
  return differences(old, present, '')
}
