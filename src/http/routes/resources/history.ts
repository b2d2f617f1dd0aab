import * as z from 'zod'
import { isInProject, kinds, pluralOf } from '../../../../events/catalogue/catalogue.js'
import { configNames } from '../../../../events/config.js'
import { foldName, type StreamId } from '../../../../events/common.js'
import { sources } from '../../../../events/stored/envelope.js'
import { notFound } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { Histories } from '../../../log/read/history.js'
import type { Kind } from '../../../log/contract/log.js'
import type { LogAt } from '../../../log/read/time-travel.js'
import { streamOf } from '../../../log/read/stream-of.js'
import type { Moment, ReadRouteFactory } from '../../reads/read-routes.js'
import { count, pageSize, whole, type ValuesOf } from '../../protocol/parameters.js'
import { jsonText, type Reply } from '../../protocol/reply.js'
import { segmentOf, type Route, type Segments } from '../../protocol/route.js'

const operation = z.looseObject({ op: z.enum(['add', 'remove', 'replace']), path: z.string() })
const change = z
  .object({
    position: z.int(),
    version: z.int(),
    type: z.string(),
    recorded_at: z.string(),
    actor: z.string(),
    source: z.enum(sources),
    request: z.string().nullable(),
    correlation: z.string().nullable(),
    causation: z.string().nullable(),
    traceparent: z.string().optional(),
    diff: z.array(operation).describe('RFC 6902, from the state before, which is null of a resource that does not exist'),
  })
  .meta({ id: 'Change' })

/** The answer of a history. */
export const historyPage = z
  .object({
    before: z.unknown().describe('the state that the first of these changes began from; null if there was none'),
    changes: z.array(change),
    next: z.int().nullable().describe('`after` of the next page; null at the end'),
    version: z.int().describe('how many changes there are'),
  })
  .meta({ id: 'History' })

/** The parameters of a history. */
export const historyParameters = {
  after: whole(count.describe('changes after this version').optional()),
  limit: whole(pageSize(limits.historyPageMaxChanges).describe(`changes of a page, up to ${limits.historyPageMaxChanges}`).optional(), {
    least: 1,
    most: limits.historyPageMaxChanges,
  }),
}
const changesDefault = 100

/** Answers a page of the history of a stream. */
export const historyOf = async (
  { histories, moment }: { histories: Histories; moment: Moment },
  kind: Kind,
  stream: StreamId,
  { after = 0, limit = changesDefault }: ValuesOf<typeof historyParameters>,
): Promise<Reply> => {
  const { before, changes, next, version } = await histories.page(kind, stream, { after, limit, head: await moment.streamVersion(stream) })
  const [from, rest] = [JSON.stringify(before), JSON.stringify(next)]
  return jsonText(`{"before":${from},"changes":[${changes.join(',')}],"next":${rest},"version":${version}}`)
}

/** The stream of a resource in a project; either may be deleted. */
export const streamInProject = async (log: LogAt, kind: Kind, project: string, ref: string): Promise<StreamId> =>
  streamOf(log, kind, ref, await streamOf(log, 'project', project))

/** `/databases` also finds projects. */
const ofDatabase = async (log: LogAt, ref: string): Promise<[Kind, StreamId]> => {
  const project = await log.resources.one('project', ref)
  return project && foldName(project.state.name) === foldName(ref)
    ? ['project', project.stream]
    : ['database', await streamOf(log, 'database', ref)]
}

/** A default that was reset and set again has a new stream; its name leads to the current one. */
const ofConfig = async (log: LogAt, ref: string): Promise<[Kind, StreamId]> => {
  const set = (await log.resources.list('config')).find(({ state }) => state.name === ref)
  if (set) return ['config', set.stream]
  if (configNames.some((name) => name === ref)) throw notFound('config', ref)
  return ['config', await streamOf(log, 'config', ref)]
}

/** The routes for the changes of resources, one for each kind with an address; the routes of jobs include theirs. */
export const historyRoutes = (reading: ReadRouteFactory, histories: Histories): Route[] => {
  const route = (path: string, of: string, find: (segments: Segments, log: LogAt) => Promise<[Kind, StreamId]>): Route =>
    reading({
      path: `${path}/history`,
      summary: `The changes of ${of}, oldest first: author, time, cause and difference; after its deletion by id or stream`,
      query: historyParameters,
      answers: { 200: historyPage },
      async handle({ segments, query }, moment) {
        const [kind, stream] = await find(segments, moment)
        return historyOf({ histories, moment }, kind, stream, query)
      },
    })
  const inProject = (kind: Kind): Route =>
    route(
      `/projects/:project/${pluralOf(kind)}/:${kind}`,
      `a ${kind.replace('_', ' ')}`.replace('a agent', 'an agent'),
      async (segments, log) => [kind, await streamInProject(log, kind, segmentOf(segments, 'project'), segmentOf(segments, kind))],
    )
  return [
    route('/projects/:project', 'a project', async (segments, log) => [
      'project',
      await streamOf(log, 'project', segmentOf(segments, 'project')),
    ]),
    // Clients expect the runs of a job under its history: see jobs.ts.
    ...kinds.filter((kind) => isInProject(kind) && kind !== 'job').map(inProject),
    route('/databases/:database', 'a connection or project', (segments, log) => ofDatabase(log, segmentOf(segments, 'database'))),
    route('/files/:file', 'a file', async (segments, log) => ['file', await streamOf(log, 'file', segmentOf(segments, 'file'))]),
    route('/config/:config', 'a default', (segments, log) => ofConfig(log, segmentOf(segments, 'config'))),
  ]
}
