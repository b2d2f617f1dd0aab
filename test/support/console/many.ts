import { v7 as uuidv7 } from 'uuid'
import { streamId, type StreamId } from '../../../events/common.js'
import type { Log, NewEvent } from '../../../src/log/contract/log.js'
import { writes } from '../log/log.js'

/** The stream of a project. */
export const projectNamed = async (log: Log, name: string): Promise<StreamId> => {
  const project = await log.resources.one('project', name)
  if (!project) throw new Error(`there is no project ${name}`)
  return streamId.parse(project.stream)
}

/** So many names in their order: `view_0000`, `view_0001` and so on. */
export const manyNames = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${kind}_${String(n).padStart(4, '0')}`)

type Made = 'project' | 'view' | 'skill' | 'agent'

const creations: Readonly<Record<Made, (project: StreamId, name: string) => NewEvent['event']>> = {
  project: (_, name) => ({ type: 'ProjectCreated', data: { name } }),
  view: (project, name) => ({ type: 'ViewCreated', data: { project, name, query: 'SELECT n FROM shop.origin', database: 'shop' } }),
  skill: (project, name) => ({ type: 'SkillCreated', data: { project, name, type: 'sql', params: {} } }),
  agent: (project, name) => ({
    type: 'AgentCreated',
    data: { project, name, model_name: null, provider: null, skills: [], params: {} },
  }),
}

/** The events that make resources with these names. */
export const created = (kind: Made, project: StreamId, names: readonly string[]): NewEvent[] =>
  names.map((name) => ({ stream: streamId.parse(uuidv7()), event: creations[kind](project, name) }))

const eventsAtOnce = 1_000

/**
 * Records many events in a few steps.
 *
 * @example await recordMany(at.log, created('view', project, manyNames('view', 5_000)))
 */
export const recordMany = async (log: Log, events: readonly NewEvent[]): Promise<void> => {
  for (let from = 0; from < events.length; from += eventsAtOnce) await log.submit(writes(...events.slice(from, from + eventsAtOnce)))
}
