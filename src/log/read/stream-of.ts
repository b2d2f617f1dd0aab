import { catalogue } from '../../../events/catalogue/catalogue.js'
import { isObject, streamId, type StreamId } from '../../../events/common.js'
import { notFound, Problem, wrong } from '../../basics/errors.js'
import type { Kind, Log, Resource, Resources } from '../contract/log.js'
import { withoutIds } from '../contract/lookups.js'
import { lastKnown } from './last-known.js'
import { eventAt, readEvent } from './slices.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'resources'>

/** The stream that an event began, if it is of this kind and in this project. */
const begunBy = (stored: { position: number; text: string } | undefined, kind: Kind, project: string | undefined): StreamId | undefined => {
  if (!stored) return undefined
  const { type, version, stream, dataAt, text } = readEvent(stored)
  if (version !== 1 || catalogue.get(type)?.kind !== kind) return undefined
  const data: unknown = JSON.parse(text.slice(dataAt, -1))
  if (project !== undefined && (!isObject(data) || data['project'] !== project)) return undefined
  return streamId.safeParse(stream).data
}

/** The existing resource with this name or id. */
const standing = async (resources: Resources, kind: Kind, ref: string, project?: StreamId): Promise<Resource | undefined> => {
  if (project === undefined) return resources.one(kind, ref)
  const scope = await resources.byStream('project', project)
  return scope && resources.one(kind, ref, scope)
}

/** The stream of the deleted resource with this id. The id of an existing one may be the name of another. */
const deletedWithId = async (log: ReadableLog, kind: Kind, ref: string, project?: StreamId): Promise<StreamId | undefined> => {
  const stream = /^\d{1,15}$/.test(ref) ? begunBy(await eventAt(log, Number(ref)), kind, project) : undefined
  return stream && !(await log.resources.byStream(kind, stream)) ? stream : undefined
}

/** The reference itself, if it is the stream of a resource. */
const withStream = async (log: ReadableLog, kind: Kind, ref: string, project?: StreamId): Promise<StreamId | undefined> =>
  streamId.safeParse(ref).success ? begunBy((await log.readStream(ref.toLowerCase(), 0, 1))[0], kind, project) : undefined

const unknown = (kind: Kind, ref: string): Problem => {
  const { code, title, detail } = notFound(kind, ref)
  return new Problem(code, title, detail, { hint: `A deleted ${kind} is found by its id or stream: GET /api/events?kind=${kind}.` })
}

/**
 * The stream of an existing resource, by name or id, or of a deleted one, by id or stream.
 *
 * @param project the stream of the project that must hold the resource
 * @example await streamOf(log, 'project', 'shop') // '0198…'
 * @throws Problem 404
 */
export const streamOf = async (log: ReadableLog, kind: Kind, ref: string, project?: StreamId): Promise<StreamId> => {
  const found = await standing(log.resources, kind, ref, project)
  const stream = found?.stream ?? (await deletedWithId(log, kind, ref, project)) ?? (await withStream(log, kind, ref, project))
  if (!stream) throw unknown(kind, ref)
  return stream
}

/** A resource that exists or existed: its stream, and its present or last name. */
type Known = { stream: StreamId; name: string }

/**
 * The resource that something irrevocable is about: an existing one by its name or stream, and a deleted one by its id or stream. Names may
 * be numbers, so an id never leads to an existing resource.
 *
 * @example await exactly(log, 'file', 'people') // { stream: '0198…', name: 'people' }
 * @throws Problem 404, and 400 if the reference means two resources
 */
export const exactly = async (log: ReadableLog, kind: Kind, ref: string, project?: StreamId): Promise<Known> => {
  const named = await standing(withoutIds(log.resources), kind, ref, project)
  const [deleted, itself] = [await deletedWithId(log, kind, ref, project), await withStream(log, kind, ref, project)]
  const [stream, other] = [...new Set([named?.stream, deleted, itself])].filter((one) => one !== undefined)
  if (stream === undefined) throw unknown(kind, ref)
  if (other !== undefined)
    throw wrong(
      `${ref} means two resources of the kind ${kind}: ${stream} and ${other}`,
      'Name one of them by its stream, as written here.',
    )
  return { stream, name: (await lastKnown(log, kind, stream))?.state.name ?? ref }
}
