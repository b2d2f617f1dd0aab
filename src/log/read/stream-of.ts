import { catalogue } from '../../../events/catalogue/catalogue.js'
import { isObject, streamId, type StreamId } from '../../../events/common.js'
import { notFound, Problem } from '../../basics/errors.js'
import type { Kind, Log } from '../contract/log.js'
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

/**
 * The stream of an existing resource, by name or id, or of a deleted one, by id or stream.
 *
 * @param project the stream of the project that must hold the resource
 * @example await streamOf(log, 'project', 'shop') // '0198…'
 * @throws Problem 404
 */
export const streamOf = async (log: ReadableLog, kind: Kind, ref: string, project?: StreamId): Promise<StreamId> => {
  const scope = project === undefined ? undefined : await log.resources.byStream('project', project)
  const standing = project === undefined || scope ? await log.resources.one(kind, ref, scope) : undefined
  if (standing) return standing.stream
  const byId = /^\d{1,15}$/.test(ref) ? await eventAt(log, Number(ref)) : undefined
  const byStream = streamId.safeParse(ref).success ? (await log.readStream(ref.toLowerCase(), 0, 1))[0] : undefined
  const stream = begunBy(byId, kind, project) ?? begunBy(byStream, kind, project)
  if (stream) return stream
  const { code, title, detail } = notFound(kind, ref)
  throw new Problem(code, title, detail, { hint: `A deleted ${kind} is found by its id or stream: GET /api/events?kind=${kind}.` })
}
