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
import type { ResourceKind } from './contract/kind.js'

/** What was asked for: the statement's parts, with everything that chance or defaults decide already in it. */
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
  /** Whether the rows that it learns from are kept, as they are unless somebody says otherwise. */
  keep_training_data?: boolean
}

/** A connection whose tables were read, as it was named then, and the version of its parameters. */
export type ConnectionRead = { connection: StreamId; name: string; version: number }

/** What came of it: enough to reproduce the artefact, byte for byte, from the kept matrix. */
export type TrainingResult = {
  version: number
  artefact: string
  matrix: string
  /** That the rows are not kept: what stands under `matrix` is their hash alone. */
  matrix_kept?: false
  read_at: number
  /** The connected databases that rows came from, also through views; missing if there were none. */
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

/** Whether the rows that a model answers one request at a time are kept, or nothing of them. */
export const recordings = ['all', 'off'] as const
export type Recording = (typeof recordings)[number]

/** A model: its versions, the one that answers when none is named, and the highest number given so far. */
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

/** Whether the rows that a version learned from were kept with it; they may have been erased since. */
export const keepsRows = ({ matrix_kept }: Pick<TrainingResult, 'matrix_kept'>): boolean => matrix_kept !== false

const version = z.int().positive()
const finite = z.number()

const schemas: SchemasOf<ModelEvent> = {
  ModelCreated: z
    .strictObject({ project: streamId, name: resourceName })
    .describe('A model was named; its first training is requested with it.'),
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
    .describe('A version of a model shall be trained: status generating.'),
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
      'A training ended well: status complete. Names the artefact, the canonical matrix, the position the query read at, and the connected databases that rows came from; with matrix_kept false the matrix was thrown away.',
    ),
  ModelTrainingFailed: z.strictObject({ version, error: text }).describe('A training ended without a model: status error.'),
  ModelVersionActivated: z.strictObject({ version }).describe('This version answers from now on when none is named.'),
  ModelVersionDeleted: z.strictObject({ version }).describe('A version that was not active was deleted.'),
  ModelRecordingChanged: z
    .strictObject({ recording: z.enum(recordings) })
    .describe('From now on the rows that the model answers are kept (all), or nothing of them is (off).'),
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
