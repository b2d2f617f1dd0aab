import type { EventType, LedgerEvent } from '../../../events/catalogue/catalogue.js'
import type { JsonObject } from '../../../events/common.js'
import { predictionsStream } from '../../../events/records/predictions.js'
import type { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { origin, stream } from './log.js'
import { seeded } from '../random.js'

export const actors = ['ann', 'bob "the builder" \\ 猫', 'system']

/** The test's own knowledge of a stream: its kind, and the project in which it began. */
export type Known = { kind: string; project: string | null }

const hash = 'ab'.repeat(32)

const created = (kind: string, project: string, name: string): LedgerEvent => {
  const inProject: Record<string, [EventType, JsonObject]> = {
    project: ['ProjectCreated', { name }],
    skill: ['SkillCreated', { project, name, type: 'sql', params: { note: 'x'.repeat(name.length * 5) } }],
    agent: ['AgentCreated', { project, name, model_name: null, provider: null, skills: [], params: {} }],
    view: ['ViewCreated', { project, name, query: 'SELECT 1', database: 'files' }],
    model: ['ModelCreated', { project, name }],
    file: ['FileCreated', { name, content: hash, bytes: 1, row_count: 1, columns: [], original_name: null }],
    database: ['DatabaseCreated', { name, engine: 'slack', parameters: {} }],
    engine: ['EngineCreated', { name, handler: 'lightwood', parameters: {} }],
  }
  const [type, data] = inProject[kind] ?? []
  return { type, data } as unknown as LedgerEvent
}

const ended = (kind: string): LedgerEvent =>
  ({ type: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Deleted`, data: {} }) as unknown as LedgerEvent

const served = (model: string): LedgerEvent =>
  ({
    type: 'PredictionsServed',
    data: { model, version: 1, rows: 1, requests: [{ request: 'r', rows: 1 }], payload: null, statement: null, read_at: 0 },
  }) as unknown as LedgerEvent

/** Fills a log with events of many kinds, projects and actors; some streams end. Returns what it wrote to each stream. */
export const fillVaried = async (log: SqliteLog, count: number, seed = 1): Promise<Map<string, Known>> => {
  const random = seeded(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const known = new Map<string, Known>()
  const alive: { stream: string; kind: string }[] = []
  let made = (await log.head()).position + 1_000
  const write = async (to: string, event: LedgerEvent) => {
    const correlation = random() < 0.3 ? 'a "quoted" run' : null
    const by = { ...origin, actor: pick(actors), correlation }
    await log.submit({ origin: by, lookups: {}, decide: () => [{ stream: to, event }], payloads: [] })
  }
  const create = async (kind: string) => {
    const projects = alive.filter((one) => one.kind === 'project')
    const to = stream((made += 1))
    const project = kind === 'project' ? to : pick(projects).stream
    const lives = ['project', 'skill', 'agent', 'view', 'model'].includes(kind)
    await write(to, created(kind, project, `${kind} ${made}`))
    known.set(to, { kind, project: lives ? project : null })
    alive.push({ stream: to, kind })
  }
  await create('project')
  while ((await log.head()).position < count) {
    const what = random()
    const one = pick(alive)
    if (what < 0.5) await create(pick(['project', 'skill', 'skill', 'agent', 'view', 'model', 'file', 'database', 'engine']))
    else if (what < 0.7 && one.kind === 'model') {
      const to = predictionsStream(one.stream as never)
      await write(to, served(one.stream))
      known.set(to, { kind: 'predictions', project: known.get(one.stream)?.project ?? null })
    } else if (what < 0.8 && one.kind === 'skill') await write(one.stream, { type: 'SkillUpdated', data: { type: `t${made}` } })
    else if (what < 0.9 && alive.length > 10 && one !== alive[0]) {
      await write(one.stream, ended(one.kind))
      alive.splice(alive.indexOf(one), 1)
    }
  }
  return known
}
