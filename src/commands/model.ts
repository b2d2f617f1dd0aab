import type { Command } from '@event-driven-io/emmett'
import { unreachable, type JsonObject, type StreamId } from '../../events/common.js'
import {
  answeringVersion,
  type Model,
  type ModelEvent,
  type ModelVersion,
  type Recording,
  type TrainingRequest,
  type TrainingResult,
} from '../../events/model.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { recordedDatabase } from './rules/data-source.js'
import type { EngineInfo } from '../catalogue/engines.js'
import { baseVersionKey, optionsOf } from '../catalogue/engine-options.js'
import { importsFile, wasImported } from '../catalogue/onnx-import.js'
import { byName, byStream, byExactName, type FactsOf, type Resource } from '../log/contract/lookups.js'
import { limits } from '../basics/limits.js'
import { checkSource, engineBehind, engineIfKnown, enginesOf, keptEngine, optionsFor, type EngineFacts } from './rules/model-engine.js'
import { namesakes, refuseTakenName } from './rules/taken-names.js'
import { decider } from './rules/decider.js'

type Target = { project: string; model: string }
type Request = Omit<TrainingRequest, 'version'>
/** New rows for an existing version, which determines what is predicted and how. */
type Refinement = Pick<Request, 'database' | 'query' | 'seed' | 'activate' | 'keep_training_data'> & { tag?: string; using?: JsonObject }
/** A training refers to its model by stream, because the name may belong to another model by its end. */
type TrainingRef = { stream: StreamId; version: number }
export type ModelCommand =
  | Command<'CreateModel', Target & { request: Request; recording?: Recording; unlessExists?: boolean; orReplace?: boolean }>
  | Command<'RetrainModel', Target & { request: Partial<Request> & Pick<Request, 'seed' | 'activate'> }>
  | Command<'FinetuneModel', Target & { version: number | null; request: Refinement }>
  | Command<'StartTraining', TrainingRef>
  | Command<'CompleteTraining', TrainingRef & { result: TrainingResult }>
  | Command<'FailTraining', TrainingRef & { error: string }>
  | Command<'CancelTraining', Target & { version: number | null }>
  | Command<'ActivateModelVersion', Target & { version: number }>
  | Command<'SetModelRecording', Target & { recording: Recording }>
  | Command<'DeleteModelVersion', Target & { version: number }>
  | Command<'DeleteModel', Target & { ifExists?: boolean }>

/** The engine in a command; an empty text if it keeps the engine of a version. */
const engineIn = ({ data }: ModelCommand): string => ('request' in data && 'engine' in data.request ? (data.request.engine ?? '') : '')

const reads = (command: ModelCommand) => {
  const { type, data } = command
  const named = 'model' in data ? data : { project: '', model: '' }
  return {
    project: byName('project', named.project),
    model:
      'stream' in data
        ? byStream('model', data.stream)
        : (type === 'CreateModel' ? byExactName : byName)('model', named.model, named.project),
    ...namesakes(named.model, named.project),
    engine: byExactName('engine', engineIn(command)),
  }
}

type Facts = FactsOf<ReturnType<typeof reads>> & EngineFacts

/** Looks up the users' own names of engines that the model's versions use. */
const readsFurther = ({ model }: Pick<Facts, 'model'>) => (model ? enginesOf(model.state) : {})

const decide = (command: ModelCommand, facts: Facts): ModelEvent[] => {
  const { model } = facts
  if ('stream' in command.data) return decideTraining(command, model?.state)
  if (!facts.project) throw notFound('project', command.data.project)
  switch (command.type) {
    case 'CreateModel':
      return create(command.data, facts)
    case 'RetrainModel':
      return retrain(need(model, command.data).state, asKept(command.data.request, facts), facts)
    case 'FinetuneModel':
      return finetune(need(model, command.data).state, command.data.version, asKept(command.data.request, facts), facts)
    case 'CancelTraining':
      return cancel(need(model, command.data).state, command.data.version)
    case 'ActivateModelVersion': {
      const version = versionOf(need(model, command.data).state, command.data.version)
      if (version.status !== 'complete')
        throw new Problem(
          'not_ready',
          'Model is not ready',
          `version ${version.version} of ${command.data.model} has status ${version.status}: only a complete one can be activated`,
        )
      return model?.state.active === version.version ? [] : [{ type: 'ModelVersionActivated', data: { version: version.version } }]
    }
    case 'SetModelRecording':
      return recorded(command.data.recording, need(model, command.data).state)
    case 'DeleteModelVersion': {
      const { version } = versionOf(need(model, command.data).state, command.data.version)
      if (model?.state.active === version)
        throw new Problem(
          'not_empty',
          'Active version',
          `Can't remove active version: ${command.data.project}.${command.data.model}.${version}`,
          {
            hint: 'Activate another version first, or drop the model.',
          },
        )
      return [{ type: 'ModelVersionDeleted', data: { version } }]
    }
    case 'DeleteModel':
      if (!model && command.data.ifExists) return []
      need(model, command.data)
      return [{ type: 'ModelDeleted', data: {} }]
    case 'StartTraining':
    case 'CompleteTraining':
    case 'FailTraining':
      return []
    default:
      return unreachable(command)
  }
}

const need = (model: Resource<'model'> | undefined, { model: name }: Target): Resource<'model'> => {
  if (!model) throw notFound('model', name)
  return model
}

/** The version with this number, or without a number the one that answers. @throws Problem that lists the existing ones */
export const versionOf = (model: Model, wanted: number | null): ModelVersion => {
  const number = wanted ?? answeringVersion(model)
  const found = model.versions.find(({ version }) => version === number)
  if (!found)
    throw new Problem('not_found', 'Model not found', `Model ${model.name} has no version ${number ?? 1}`, {
      hint: `Its versions: ${model.versions.map(({ version }) => version).join(', ') || 'none'}.`,
    })
  return found
}

/** A request with its names in their stored form. */
const asKept = <R extends { engine?: string; database?: string }>(request: R, facts: Facts): R => ({
  ...request,
  ...(request.engine !== undefined && { engine: keptEngine(request.engine, facts) }),
  ...(request.database !== undefined && facts.project && { database: recordedDatabase(request.database, facts.project) }),
})

type Creation = Target & { request: Request; recording?: Recording; unlessExists?: boolean; orReplace?: boolean }
/** The event that changes a model's recording, if needed. */
const recorded = (recording: Recording | undefined, model?: Model): ModelEvent[] =>
  recording === undefined || recording === (model?.recording ?? 'all') ? [] : [{ type: 'ModelRecordingChanged', data: { recording } }]

/** Whether all trainings of a model failed and none is in progress. Such a model does not reserve its name. */
export const hasFailed = ({ versions }: Model): boolean => versions.length > 0 && versions.every(({ status }) => status === 'error')

/** Replaces a failed model, whose versions stay as history. As for a new model, its first new version becomes the active one. */
const createAnew = (model: Model, request: Request, recording: Recording | undefined, facts: Facts): ModelEvent[] => [
  ...retrain(model, request, facts, true),
  { type: 'ModelVersionActivated', data: { version: model.latest + 1 } },
  ...recorded(recording, model),
]

const create = ({ model: name, request: asked, recording, unlessExists, orReplace }: Creation, facts: Facts): ModelEvent[] => {
  const { project, model } = facts
  if (model && hasFailed(model.state))
    return createAnew(model.state, asKept(asked, facts), orReplace ? recording : (recording ?? 'all'), facts)
  if (model && unlessExists) return []
  const request = asKept(asked, facts)
  if (model && orReplace) return [...retrain(model.state, request, facts, true), ...recorded(recording, model.state)]
  if (model) throw conflict('model', name)
  refuseTakenName('model', name, facts)
  const engine = engineBehind(request.engine, facts)
  checkSource(engine, request)
  if (!project) return []
  return [
    { type: 'ModelCreated', data: { project: project.stream, name } },
    { type: 'ModelTrainingRequested', data: { ...request, using: optionsFor(engine, request.using, { engine, options: {} }), version: 1 } },
    { type: 'ModelVersionActivated', data: { version: 1 } },
    ...recorded(recording),
  ]
}

/** Whether a version adds rows to those of another version: its own query returns only the new rows. */
export const isFinetuned = ({ using }: ModelVersion): boolean => using[baseVersionKey] !== undefined

/** A new version inherits whether training rows are kept, so that a user need not repeat `false`. */
const keeping = ({ keep_training_data: keep }: ModelVersion): { keep_training_data?: boolean } =>
  keep === undefined ? {} : { keep_training_data: keep }

/** The source of a new version: the given one, or that of an earlier version. An import has no query. */
const sourceOf = (
  model: Model,
  engine: EngineInfo,
  said: Partial<Pick<Request, 'database' | 'query'>>,
): Pick<Request, 'database' | 'query'> => {
  // The query of a fine-tuned version returns only its new rows.
  const whole = importsFile(engine.name) ? { database: 'files', query: '' } : model.versions.findLast((version) => !isFinetuned(version))
  const { database = whole?.database, query = whole?.query } = said
  if (database !== undefined && query !== undefined) return { database, query }
  throw wrong(
    `All versions of ${model.name} continue versions that no longer exist, so their queries give only their newer rows`,
    'Say what to learn from: RETRAIN model FROM database (SELECT …).',
  )
}

const retrain = (
  model: Model,
  changes: Partial<Request> & Pick<Request, 'seed' | 'activate'>,
  facts: Facts,
  anew = false,
): ModelEvent[] => {
  const last = model.versions.at(-1)
  if (!last) throw notFound('model', model.name)
  const { target, tag } = last
  const name = changes.engine ?? last.engine
  const engine = engineBehind(name, facts)
  const source = sourceOf(model, engine, changes)
  checkRoom(model)
  const request = { target, tag, ...(anew ? {} : keeping(last)), ...changes, ...source, engine: name }
  checkSource(engine, request)
  // If the name of the earlier engine was deleted, its options count as those of the new engine.
  const before = { engine: engineIfKnown(last.engine, facts) ?? engine, options: optionsOf(last.using) }
  const using = optionsFor(engine, changes.using, before, anew)
  return [{ type: 'ModelTrainingRequested', data: { ...request, using, version: model.latest + 1 } }]
}

const finetune = (model: Model, version: number | null, request: Refinement, facts: Facts): ModelEvent[] => {
  const wanted = version ?? model.active
  const base = wanted === null ? undefined : versionOf(model, wanted)
  if (base?.status !== 'complete')
    throw new Problem(
      'not_ready',
      'Model is not ready',
      `version ${base?.version ?? 1} of ${model.name} has status ${base?.status ?? 'error'}: there is nothing to continue`,
      {
        hint: 'Wait until it is complete, or name another version: FINETUNE model.1 FROM ….',
      },
    )
  if (base.result && wasImported(base.result))
    throw wrong(`${model.name} was imported: it has no rows to continue from`, 'Train it elsewhere, and import the new file.')
  checkRoom(model)
  const { engine, target, tag } = base
  const before = { engine: engineBehind(engine, facts), options: optionsOf(base.using) }
  const using = { ...optionsFor(before.engine, request.using, before), [baseVersionKey]: base.version }
  return [{ type: 'ModelTrainingRequested', data: { engine, target, tag, ...keeping(base), ...request, using, version: model.latest + 1 } }]
}

const isBusy = ({ status }: ModelVersion): boolean => status === 'generating' || status === 'training'

/** The error of a cancelled training; the event names who cancelled it. */
const cancelled = 'the training was cancelled; RETRAIN starts it again'

/** Cancels the training of a version; by default the one that is waiting or running. */
const cancel = (model: Model, wanted: number | null): ModelEvent[] => {
  const found = wanted === null ? (model.versions.find(isBusy) ?? model.versions.at(-1)) : versionOf(model, wanted)
  if (!found || !isBusy(found))
    throw new Problem(
      'not_ready',
      'Nothing to cancel',
      `version ${found?.version ?? 1} of ${model.name} is not being trained: it has status ${found?.status ?? 'error'}`,
      { hint: `DESCRIBE ${model.name}.jobs lists its trainings.` },
    )
  return [{ type: 'ModelTrainingFailed', data: { version: found.version, error: cancelled } }]
}

/** Refuses a training if the model has too many versions or is being trained. */
const checkRoom = (model: Model): void => {
  if (model.versions.length >= limits.modelMaxVersions)
    throw new Problem('too_large', 'Too many versions', `${model.name} has ${model.versions.length} versions, and no more are allowed`, {
      hint: 'Drop versions that are no longer needed.',
    })
  const busy = model.versions.find(isBusy)
  if (busy)
    throw new Problem('not_ready', 'Model is being trained', `version ${busy.version} of ${model.name} is still ${busy.status}`, {
      hint: `Wait until it is complete, or end it: CANCEL TRAINING ${model.name}.`,
    })
}

/** Ignores the result of a training whose model or version is gone. */
const decideTraining = (command: ModelCommand, model: Model | undefined): ModelEvent[] => {
  if (!('stream' in command.data)) return []
  const { version } = command.data
  const found = model?.versions.find((v) => v.version === version)
  if (!model || !found || found.status === 'complete' || found.status === 'error') return []
  switch (command.type) {
    case 'StartTraining':
      return found.status === 'generating' ? [{ type: 'ModelTrainingStarted', data: { version } }] : []
    case 'CompleteTraining': {
      const trained: ModelEvent = { type: 'ModelTrained', data: command.data.result }
      return found.activate && model.active !== version ? [trained, { type: 'ModelVersionActivated', data: { version } }] : [trained]
    }
    case 'FailTraining':
      return [{ type: 'ModelTrainingFailed', data: { version, error: command.data.error } }]
    default:
      return []
  }
}

/** Decides the commands of models. Instead of a rollback, an earlier version is activated. */
export const modelDecider = decider('model', {
  commands: {
    CreateModel: true,
    RetrainModel: true,
    FinetuneModel: true,
    StartTraining: true,
    CompleteTraining: true,
    FailTraining: true,
    CancelTraining: true,
    ActivateModelVersion: true,
    SetModelRecording: true,
    DeleteModelVersion: true,
    DeleteModel: true,
  },
  secrets: ['using'],
  rollback: null,
  reads,
  readsFurther,
  decide,
})
