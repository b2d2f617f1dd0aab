import type * as z from 'zod'
import { agentKind } from '../agent.js'
import { answersPayloads, answersSchemas, answersUpcasters, type AnswersEvent } from '../records/answers.js'
import { chatbotKind } from '../chatbot.js'
import type { JsonObject, StreamId, Upcaster } from '../common.js'
import { configKind } from '../config.js'
import { conversationKind } from '../conversation.js'
import { contentsPayloads, contentsSchemas, contentsUpcasters, type ContentsEvent } from '../records/contents.js'
import { databaseKind } from '../database.js'
import { engineKind } from '../engine.js'
import { fileKind } from '../file.js'
import { jobKind } from '../job.js'
import { knowledgeBaseKind } from '../knowledge-base.js'
import { logSchemas, type LogEvent } from '../records/log.js'
import { modelKind } from '../model.js'
import { predictionsPayloads, predictionsSchemas, type PredictionsEvent } from '../records/predictions.js'
import { projectKind } from '../project.js'
import { queriesSchemas, queriesUpcasters, type QueriesEvent } from '../records/queries.js'
import { searchesPayloads, searchesSchemas, type SearchesEvent } from '../records/searches.js'
import { skillKind } from '../skill.js'
import { viewKind } from '../view.js'
import { isForeignType, type ForeignEvent } from '../foreign.js'

/** Every kind of resource, with everything that its events define. A new kind is added only here. */
export const resourceKinds = {
  project: projectKind,
  skill: skillKind,
  agent: agentKind,
  chatbot: chatbotKind,
  conversation: conversationKind,
  model: modelKind,
  view: viewKind,
  database: databaseKind,
  file: fileKind,
  job: jobKind,
  config: configKind,
  engine: engineKind,
  knowledge_base: knowledgeBaseKind,
}
type ResourceKinds = typeof resourceKinds
export type Kind = keyof ResourceKinds

/** The state that each kind of resource has after its events. */
export type States = { [K in Kind]: NonNullable<ReturnType<ResourceKinds[K]['evolve']>> }
/** The events of each kind of resource. */
export type EventsOf = { [K in Kind]: Parameters<ResourceKinds[K]['evolve']>[1] }

export type ResourceEvent = EventsOf[Kind]
export type LedgerEvent = ResourceEvent | PredictionsEvent | AnswersEvent | ContentsEvent | QueriesEvent | SearchesEvent | LogEvent
export type EventType = LedgerEvent['type']

/** One type of event, as the catalogue knows it. The current schema version is the number of upcasters plus one. */
export type EventDefinition = {
  kind: Kind | 'predictions' | 'answers' | 'contents' | 'queries' | 'searches' | 'log'
  schema: z.ZodType
  upcasters: readonly Upcaster[]
  /** The members of its data that name blobs. */
  blobs: readonly string[]
  /** The members of its data that name payloads, beside its secrets. */
  payloads: readonly string[]
}

/** The object of every kind, typed by the members that all kinds share. */
type CommonKind = {
  plural: string
  inProject: boolean
  schemas: Record<string, z.ZodType>
  upcasters?: Record<string, readonly Upcaster[]>
  blobs?: Record<string, readonly string[]>
  payloads?: Record<string, readonly string[]>
}
const common: Readonly<Record<Kind, CommonKind>> = resourceKinds

type Group = Pick<CommonKind, 'schemas' | 'upcasters' | 'blobs' | 'payloads'>
const groups: Readonly<Record<EventDefinition['kind'], Group>> = {
  ...common,
  predictions: { schemas: predictionsSchemas, payloads: predictionsPayloads },
  answers: { schemas: answersSchemas, upcasters: answersUpcasters, payloads: answersPayloads },
  contents: { schemas: contentsSchemas, upcasters: contentsUpcasters, payloads: contentsPayloads },
  queries: { schemas: queriesSchemas, upcasters: queriesUpcasters },
  searches: { schemas: searchesSchemas, payloads: searchesPayloads },
  log: { schemas: logSchemas },
}

/** All events, by type. */
export const catalogue: ReadonlyMap<string, EventDefinition> = new Map(
  (Object.keys(groups) as EventDefinition['kind'][]).flatMap((kind) => {
    const { schemas, upcasters, blobs, payloads } = groups[kind]
    return Object.entries(schemas).map(([type, schema]) => {
      const definition = { kind, schema, upcasters: upcasters?.[type] ?? [], blobs: blobs?.[type] ?? [], payloads: payloads?.[type] ?? [] }
      return [type, definition] as const
    })
  }),
)

export const kinds = Object.keys(resourceKinds) as readonly Kind[]

/** The kinds whose resources live in a project. */
export type ProjectKind = { [K in Kind]: States[K] extends { project: StreamId } ? K : never }[Kind]

/** Whether resources of a kind live in a project. `isInProject('skill')` → true */
export const isInProject = (kind: Kind): kind is ProjectKind => common[kind].inProject

/** The plural name of a kind, for paths and names of tables. `pluralOf('skill')` → `skills` */
export const pluralOf = (kind: Kind): string => common[kind].plural

/** The types of a kind's events. `eventTypesOf('project')` → `['ProjectCreated', 'ProjectRenamed', 'ProjectDeleted']` */
export const eventTypesOf = (kind: Kind): readonly EventType[] => Object.keys(common[kind].schemas) as EventType[]

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

/** The event in today's schema, whatever release wrote it; a foreign event unchanged. */
export const currentEvent = ({ type, schema, data }: { type: string; schema: number; data: JsonObject }): LedgerEvent | ForeignEvent =>
  isForeignType(type) ? { type, data } : ({ type, data: upcast(type, schema, data) } as unknown as LedgerEvent)

/** The functions of one kind over states and events. Each kind has its own types, which the compiler cannot follow through a union. */
type KindFold<K extends Kind> = {
  evolve: (state: States[K] | undefined, event: { type: string; data: unknown }) => States[K] | undefined
  links?: (state: States[K]) => StreamId[]
}
const kindOf = <K extends Kind>(kind: K) => resourceKinds[kind] as unknown as KindFold<K>

/** The state of a resource before its first event. */
export const initialState = (): undefined => undefined

/** The state of a resource after one more of its events; undefined if the event ended it. */
export const evolve = <K extends Kind>(
  kind: K,
  state: States[K] | undefined,
  event: { type: string; data: unknown },
): States[K] | undefined => kindOf(kind).evolve(state, event)

/** Whether states of a kind refer to other resources. */
export const hasLinks = (kind: Kind): boolean => kindOf(kind).links !== undefined

/** The resources that a state refers to by stream. */
export const linksOf = <K extends Kind>(kind: K, state: States[K]): StreamId[] => kindOf(kind).links?.(state) ?? []
