import type { z } from 'zod'
import * as agent from './agent.js'
import * as chatbot from './chatbot.js'
import type { JsonObject, StreamId, Upcaster } from './common.js'
import * as config from './config.js'
import * as database from './database.js'
import * as engine from './engine.js'
import * as file from './file.js'
import * as job from './job.js'
import { logSchemas, type LogEvent } from './log.js'
import * as model from './model.js'
import { predictionsSchemas, type PredictionsEvent } from './predictions.js'
import * as project from './project.js'
import * as skill from './skill.js'
import * as view from './view.js'

/** The state that each kind of resource has after its events. */
export type States = {
  project: project.Project
  skill: skill.Skill
  agent: agent.Agent
  chatbot: chatbot.Chatbot
  model: model.Model
  view: view.View
  database: database.Database
  file: file.File
  job: job.Job
  config: config.Config
  engine: engine.Engine
}
export type Kind = keyof States

export type ResourceEvent =
  | project.ProjectEvent
  | skill.SkillEvent
  | agent.AgentEvent
  | chatbot.ChatbotEvent
  | model.ModelEvent
  | view.ViewEvent
  | database.DatabaseEvent
  | file.FileEvent
  | job.JobEvent
  | config.ConfigEvent
  | engine.EngineEvent
export type LedgerEvent = ResourceEvent | PredictionsEvent | LogEvent
export type EventType = LedgerEvent['type']

/** One kind of event, as the catalogue knows it. The current schema version is the number of upcasters plus one. */
export type EventDefinition = { kind: Kind | 'predictions' | 'log'; schema: z.ZodType; upcasters: readonly Upcaster[] }

type Group = { kind: EventDefinition['kind']; schemas: Record<string, z.ZodType>; upcasters?: Record<string, readonly Upcaster[]> }

const groups: Group[] = [
  { kind: 'project', schemas: project.projectSchemas },
  { kind: 'skill', schemas: skill.skillSchemas },
  { kind: 'agent', schemas: agent.agentSchemas },
  { kind: 'chatbot', schemas: chatbot.chatbotSchemas, upcasters: chatbot.chatbotUpcasters },
  { kind: 'model', schemas: model.modelSchemas },
  { kind: 'view', schemas: view.viewSchemas },
  { kind: 'database', schemas: database.databaseSchemas },
  { kind: 'file', schemas: file.fileSchemas },
  { kind: 'job', schemas: job.jobSchemas },
  { kind: 'config', schemas: config.configSchemas },
  { kind: 'engine', schemas: engine.engineSchemas },
  { kind: 'predictions', schemas: predictionsSchemas },
  { kind: 'log', schemas: logSchemas },
]

/** Every event there is, by type. */
export const catalogue: ReadonlyMap<string, EventDefinition> = new Map(
  groups.flatMap(({ kind, schemas, upcasters }) =>
    Object.entries(schemas).map(([type, schema]) => [type, { kind, schema, upcasters: upcasters?.[type] ?? [] }] as const),
  ),
)

export const kinds: readonly Kind[] = [
  'project',
  'skill',
  'agent',
  'chatbot',
  'model',
  'view',
  'database',
  'file',
  'job',
  'config',
  'engine',
]

/** The schema version that is written today. */
export const currentSchema = (type: string): number => (catalogue.get(type)?.upcasters.length ?? 0) + 1

/** Brings the data of an older schema version to today's shape, and checks it. Throws when the type is unknown or the data does not fit. */
export const upcast = (type: string, schema: number, data: JsonObject): JsonObject => {
  const definition = catalogue.get(type)
  if (!definition) throw new TypeError(`unknown event type ${type}`)
  if (schema > definition.upcasters.length + 1) throw new TypeError(`${type} has schema version ${schema}, which a newer release wrote`)
  const current = definition.upcasters.slice(schema - 1).reduce((older, step) => step(older), data)
  definition.schema.parse(current)
  return current
}

type Evolve = (state: never, event: never) => unknown
const evolvers: Record<Kind, Evolve> = {
  project: project.evolve,
  skill: skill.evolve,
  agent: agent.evolve,
  chatbot: chatbot.evolve,
  model: model.evolve,
  view: view.evolve,
  database: database.evolve,
  file: file.evolve,
  job: job.evolve,
  config: config.evolve,
  engine: engine.evolve,
}

/** The state of a resource after one more of its events; undefined when the event ended it. */
export const evolve = <K extends Kind>(
  kind: K,
  state: States[K] | undefined,
  event: { type: string; data: unknown },
): States[K] | undefined => (evolvers[kind] as (state: States[K] | undefined, event: unknown) => States[K] | undefined)(state, event)

/** The kinds whose states refer to other resources, and how. */
const links: { [K in Kind]?: (state: States[K]) => StreamId[] } = { agent: agent.links, chatbot: chatbot.links }

export const hasLinks = (kind: Kind): boolean => kind in links

/** The resources that a state refers to by stream. */
export const linksOf = <K extends Kind>(kind: K, state: States[K]): StreamId[] => links[kind]?.(state) ?? []
