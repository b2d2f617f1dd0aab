import { ApiError, json } from '../../api/request.js'
import { isObject, memberOf, select, type Value } from '../../api/sql.js'
import { headAt } from '../../basics/head.js'
import { apiPathOf, kindNamed, type KindInfo } from '../../basics/kinds.js'
import { wordsOf } from '../../basics/words.js'
import type { Operation } from '../../components/diff.js'
import type { Part, PartPlace } from '../../lists/parts.js'

export type Moments = { from: string; to: string | undefined }

/** The change of a resource between two moments. */
export type ResourceChange = {
  /** Tells it apart from another resource with its name: one of them was deleted before the other was created. */
  stream: string
  kind: string
  project: string | null
  name: string
  /** Its previous names, if it or its project was renamed. */
  before: { project: string | null; name: string } | null
  became: 'created' | 'changed' | 'deleted' | 'created and deleted'
  events: number
}

type ResourceRow = { stream: string; kind: string; project: string | null; name: string } & Record<string, Value>

/** The moment before the first event. The service reads at positions from 1 on. */
const beginning = '0'

const listAt = async (at: string | undefined, streams: readonly string[], signal: AbortSignal): Promise<ResourceRow[]> =>
  at === beginning
    ? []
    : select<ResourceRow>({
        query: `SELECT stream, kind, project, name FROM log.resources WHERE list_contains(:streams::VARCHAR[], stream)`,
        params: { streams: [...streams] },
        at,
        signal,
      })

/** Whether a row of log.events is after a position, up to another one. */
const between = 'position > :first AND position <= :last'

/** Whether a row of log.events is the creation of a resource. Types of events of other programs have a dot. */
const isCreation = `(type = 'ConversationStarted' OR (type LIKE '%Created' AND type NOT LIKE '%.%'))`

/** `KnowledgeBaseCreated` → `knowledge_base` */
const kindCreatedBy = (type: string): string => wordsOf(type).toLowerCase().replace(/ \w+$/, '').replaceAll(' ', '_')

/** Resources that were created after a position and up to another one, with the names that they and their projects had then. */
const listCreated = async (first: number, last: number, streams: readonly string[], signal: AbortSignal): Promise<ResourceRow[]> => {
  if (streams.length === 0) return []
  const created = await select<{ stream: string; position: number; type: string; name: string; project: string | null }>({
    query: `SELECT stream, position, type, (data->>'name') AS name, (data->>'project') AS project FROM log.events
      WHERE ${between} AND list_contains(:streams::VARCHAR[], stream) AND ${isCreation} ORDER BY position`,
    params: { first, last, streams: [...streams] },
    signal,
  })
  const projects = await select<{ stream: string; position: number; name: string }>({
    query: `SELECT stream, position, (data->>'name') AS name FROM log.events
      WHERE position <= :last AND list_contains(:projects::VARCHAR[], stream) AND type IN ('ProjectCreated', 'ProjectRenamed')
      ORDER BY position`,
    params: { last, projects: [...new Set(created.flatMap(({ project }) => project ?? []))] },
    signal,
  })
  return created.map(({ stream, position, type, name, project }) => {
    const then = projects.findLast((named) => named.stream === project && named.position < position)
    return { stream, kind: kindCreatedBy(type), project: then?.name ?? null, name }
  })
}

/** A part of the resources that changed, those of the last changes first, and the events of all of them. */
export type ChangesPart = Part<ResourceChange> & { moments: Moments; events: number }

/**
 * The resources that changed between two moments. The first moment may be 0, before the first event.
 *
 * @example await loadChanges({ from: '40', to: undefined }, { skipped: 0, most: 500, at: undefined }, signal)
 * @throws ApiError for a moment that does not exist, and if the first moment is after the second one
 */
export const loadChanges = async (moments: Moments, { skipped, most, at }: PartPlace, signal: AbortSignal): Promise<ChangesPart> => {
  const { from, to = at } = moments
  const [first, last] = [from === beginning ? 0 : await headAt(from, signal), await headAt(to, signal)]
  if (first > last)
    throw new ApiError({
      ...{ status: 0, detail: `the first moment is at position ${first}, after the second one at position ${last}` },
      hint: 'Exchange the two moments.',
    })
  const end = String(last)
  if (first === last) return { rows: [], next: 0, all: 0, at: end, moments, events: 0 }
  // Other streams have records, such as answers, and events of other programs. What is there at the second moment was there at the first, or
  // was created since. A resource may be there at neither moment.
  const ofResources = [
    ...(first > 0 ? [`SELECT stream FROM log.resources AT (VERSION => ${first})`] : []),
    `SELECT stream FROM log.events WHERE ${between} AND ${isCreation}`,
  ]
  const some = await select<{ stream: string; n: number; resources: number; events: number }>({
    query: `SELECT stream, n, count(*) OVER () AS resources, sum(n) OVER () AS events FROM (
        SELECT stream, count(*) AS n, max(position) AS newest FROM log.events
        WHERE ${between} AND stream IN (${ofResources.join(' UNION ')}) GROUP BY stream
      ) ORDER BY newest DESC LIMIT ${most} OFFSET ${skipped}`,
    params: { first, last },
    signal,
  })
  const streams = some.map(({ stream }) => stream)
  const [then, now] = await Promise.all([listAt(from, streams, signal), listAt(end, streams, signal)])
  const [old, present] = [new Map(then.map((one) => [one.stream, one])), new Map(now.map((one) => [one.stream, one]))]
  const passing = streams.filter((stream) => !old.has(stream) && !present.has(stream))
  const gone = new Map((await listCreated(first, last, passing, signal)).map((one) => [one.stream, one]))
  const rows = some.flatMap(({ stream, n }): ResourceChange[] => {
    const [before, after] = [old.get(stream), present.get(stream)]
    const one = after ?? before ?? gone.get(stream)
    if (!one) return []
    const { kind, project, name } = one
    const renamed = before && (before.name !== name || before.project !== project) ? before : null
    const became = before ? (after ? 'changed' : 'deleted') : after ? 'created' : 'created and deleted'
    return [{ stream, kind, project, name, before: renamed, became, events: n }]
  })
  const next = skipped + some.length
  return { rows, next, all: some[0]?.resources ?? next, at: end, moments, events: some[0]?.events ?? 0 }
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
