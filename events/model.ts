import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import {
  jsonObject,
  nothing,
  resourceName,
  sha256,
  streamId,
  text,
  unreachable,
  type JsonObject,
  type SchemasOf,
  type StreamId,
} from './common.js'
import type { ResourceKind } from './kind.js'

/** The request for a training: the parts of the statement, with all defaults and random choices filled in. */
export type TrainingRequest = {
  version: number
  engine: string
  target: string
  database: string
  query: string
  using: JsonObject
  seed: number
  activate: boolean
  tag: string | null
  /** Whether the service keeps the rows of the training; the default is yes. */
  keep_training_data?: boolean
}

/** A connection whose tables were read: its name at that time, and the version of its parameters. */
export type ConnectionRead = { connection: StreamId; name: string; version: number }

/** The result of a training: enough to reproduce the artefact, byte for byte, from the kept matrix. */
export type TrainingResult = {
  version: number
  artefact: string
  matrix: string
  /** False if the rows are not kept: then `matrix` is only their hash. */
  matrix_kept?: false
  read_at: number
  /** The connected databases that gave rows, also through views; missing if there were none. */
  connections?: ConnectionRead[]
  rows: number
  accuracy: number | null
  report: JsonObject
  runtime: JsonObject
  seconds: number
}

export type ModelVersion = TrainingRequest & {
  status: 'generating' | 'training' | 'complete' | 'error'
  error: string | null
  result: TrainingResult | null
}

/** Whether the service keeps the rows of single prediction requests (`all`), or nothing of them (`off`). */
export const recordings = ['all', 'off'] as const
export type Recording = (typeof recordings)[number]

/** A model: its versions, the active version, which answers when a request names none, and the highest version number so far. */
export type Model = {
  project: StreamId
  name: string
  active: number | null
  latest: number
  recording: Recording
  versions: ModelVersion[]
}

export type ModelEvent =
  | Event<'ModelCreated', { project: StreamId; name: string }>
  | Event<'ModelTrainingRequested', TrainingRequest>
  | Event<'ModelTrainingStarted', { version: number }>
  | Event<'ModelTrained', TrainingResult>
  | Event<'ModelTrainingFailed', { version: number; error: string }>
  | Event<'ModelVersionActivated', { version: number }>
  | Event<'ModelVersionDeleted', { version: number }>
  | Event<'ModelRecordingChanged', { recording: Recording }>
  | Event<'ModelDeleted', Record<string, never>>

/** The number of the version that answers when a request names none: the active one, or the last one while none is active. */
export const answeringVersion = ({ active, versions }: Pick<Model, 'active' | 'versions'>): number | null =>
  active ?? versions.at(-1)?.version ?? null

/** Whether the training rows of a version were kept; a later erasure may have removed them. */
export const keepsRows = ({ matrix_kept }: Pick<TrainingResult, 'matrix_kept'>): boolean => matrix_kept !== false

const version = z.int().positive()
const finite = z.number()

const schemas: SchemasOf<ModelEvent> = {
  ModelCreated: z
    .strictObject({ project: streamId, name: resourceName })
    .describe('A model was created; a request for its first training follows at once.'),
  ModelTrainingRequested: z
    .strictObject({
      version,
      engine: text,
      target: text,
      database: text,
      query: text,
      using: jsonObject,
      seed: z.int().nonnegative(),
      activate: z.boolean(),
      tag: text.nullable(),
      keep_training_data: z.boolean().exactOptional(),
    })
    .describe('The training of a version was requested: status generating.'),
  ModelTrainingStarted: z.strictObject({ version }).describe('A training began to run: status training.'),
  ModelTrained: z
    .strictObject({
      version,
      artefact: sha256,
      matrix: sha256,
      matrix_kept: z.literal(false).exactOptional(),
      read_at: z.int().nonnegative(),
      connections: z.array(z.strictObject({ connection: streamId, name: text, version })).exactOptional(),
      rows: z.int().nonnegative(),
      accuracy: finite.nullable(),
      report: jsonObject,
      runtime: jsonObject,
      seconds: finite.nonnegative(),
    })
    .describe(
      'A training succeeded: status complete. The event names the artefact, the canonical matrix, the position that the query read at, and the connected databases that gave rows. If matrix_kept is false, the matrix was deleted.',
    ),
  ModelTrainingFailed: z.strictObject({ version, error: text }).describe('A training ended without a model: status error.'),
  ModelVersionActivated: z.strictObject({ version }).describe('From now on this version answers requests that name no version.'),
  ModelVersionDeleted: z.strictObject({ version }).describe('An inactive version was deleted.'),
  ModelRecordingChanged: z
    .strictObject({ recording: z.enum(recordings) })
    .describe('From now on the service keeps the predicted rows of the model (all), or does not keep them (off).'),
  ModelDeleted: nothing.describe('A model and all its versions were deleted.'),
}

const change = (model: Model | undefined, version: number, changes: Partial<ModelVersion>): Model | undefined =>
  model && { ...model, versions: model.versions.map((v) => (v.version === version ? { ...v, ...changes } : v)) }

const evolve = (model: Model | undefined, event: ModelEvent): Model | undefined => {
  switch (event.type) {
    case 'ModelCreated':
      return { ...event.data, active: null, latest: 0, recording: 'all', versions: [] }
    case 'ModelTrainingRequested':
      return (
        model && {
          ...model,
          latest: event.data.version,
          versions: [...model.versions, { ...event.data, status: 'generating', error: null, result: null }],
        }
      )
    case 'ModelTrainingStarted':
      return change(model, event.data.version, { status: 'training' })
    case 'ModelTrained':
      return change(model, event.data.version, { status: 'complete', result: event.data })
    case 'ModelTrainingFailed':
      return change(model, event.data.version, { status: 'error', error: event.data.error })
    case 'ModelVersionActivated':
      return model && { ...model, active: event.data.version }
    case 'ModelRecordingChanged':
      return model && { ...model, ...event.data }
    case 'ModelVersionDeleted':
      return model && { ...model, versions: model.versions.filter((v) => v.version !== event.data.version) }
    case 'ModelDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const modelKind: ResourceKind<Model, ModelEvent> = {
  plural: 'models',
  inProject: true,
  schemas,
  blobs: { ModelTrained: ['artefact', 'matrix'] },
  evolve,
}
