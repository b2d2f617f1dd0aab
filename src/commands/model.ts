import type { Command } from '@event-driven-io/emmett'
import { unreachable, type JsonObject, type StreamId } from '../../events/common.js'
import type { Model, ModelEvent, ModelVersion, Recording, TrainingRequest, TrainingResult } from '../../events/model.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { recordedDatabase } from './rules/data-source.js'
import type { EngineInfo } from '../catalogue/engines.js'
import { baseVersionKey, optionsOf } from '../catalogue/base-version.js'
import { importsFile, wasImported } from '../catalogue/onnx-import.js'
import { byName, byStream, byExactName, type FactsOf, type Found } from '../log/contract/lookups.js'
import { limits } from '../basics/limits.js'
import { checkSource, engineBehind, enginesOf, keptEngine, optionsFor, type EngineFacts } from './rules/model-engine.js'
import { refuseTableName } from './rules/table-names.js'
import { decider } from './decider.js'

type Target = { project: string; model: string }
type Request = Omit<TrainingRequest, 'version'>
/** New rows for a version that is there; what it predicts, and how, is that version's. */
type Refinement = Pick<Request, 'database' | 'query' | 'seed' | 'activate' | 'keep_training_data'> & { tag?: string; using?: JsonObject }
/** A training that ends refers to its model by stream: the name may belong to another model by then. */
type Training = { stream: StreamId; version: number }
export type ModelCommand =
  | Command<'CreateModel', Target & { request: Request; recording?: Recording; unlessExists?: boolean; orReplace?: boolean }>
  | Command<'RetrainModel', Target & { request: Partial<Request> & Pick<Request, 'seed' | 'activate'> }>
  | Command<'FinetuneModel', Target & { version: number | null; request: Refinement }>
  | Command<'StartTraining', Training>
  | Command<'CompleteTraining', Training & { result: TrainingResult }>
  | Command<'FailTraining', Training & { error: string }>
  | Command<'CancelTraining', Target & { version: number | null }>
  | Command<'ActivateModelVersion', Target & { version: number }>
  | Command<'SetModelRecording', Target & { recording: Recording }>
  | Command<'DeleteModelVersion', Target & { version: number }>
  | Command<'DeleteModel', Target & { ifExists?: boolean }>

/** The engine that a command asks for; of one that goes on with a version's, an empty text. */
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
    view: byExactName('view', named.model, named.project),
    engine: byExactName('engine', engineIn(command)),
  }
}

type Facts = FactsOf<ReturnType<typeof reads>> & EngineFacts

/** What the names of engines stand for under which the model's versions were asked for. */
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

const need = (model: Found<'model'> | undefined, { model: name }: Target): Found<'model'> => {
  if (!model) throw notFound('model', name)
  return model
}

/** The version with this number. @throws Problem that lists the ones there are */
export const versionOf = (model: Model, wanted: number): ModelVersion => {
  const found = model.versions.find(({ version }) => version === wanted)
  if (!found)
    throw new Problem('not_found', 'Model not found', `Model ${model.name} has no version ${wanted}`, {
      hint: `Its versions: ${model.versions.map(({ version }) => version).join(', ') || 'none'}.`,
    })
  return found
}

/** A request with its names as they are kept. */
const asKept = <R extends { engine?: string; database?: string }>(request: R, facts: Facts): R => ({
  ...request,
  ...(request.engine !== undefined && { engine: keptEngine(request.engine, facts) }),
  ...(request.database !== undefined && facts.project && { database: recordedDatabase(request.database, facts.project) }),
})

type Creation = Target & { request: Request; recording?: Recording; unlessExists?: boolean; orReplace?: boolean }
/** What makes a model's recording the one that is asked for. */
const recorded = (recording: Recording | undefined, model?: Model): ModelEvent[] =>
  recording === undefined || recording === (model?.recording ?? 'all') ? [] : [{ type: 'ModelRecordingChanged', data: { recording } }]

/** Whether no training of a model ever ended well, and none goes on: such a model does not keep its name from another one. */
export const hasFailed = ({ versions }: Model): boolean => versions.length > 0 && versions.every(({ status }) => status === 'error')

/** A model in the place of one that failed, whose versions stay as history. As of a new model, its first version is the one that answers. */
const createAnew = (model: Model, request: Request, recording: Recording | undefined, facts: Facts): ModelEvent[] => [
  ...retrain(model, request, facts, true),
  { type: 'ModelVersionActivated', data: { version: model.latest + 1 } },
  ...recorded(recording ?? 'all', model),
]

const create = ({ model: name, request: asked, recording, unlessExists, orReplace }: Creation, facts: Facts): ModelEvent[] => {
  const { project, model, view } = facts
  if (model && hasFailed(model.state)) return createAnew(model.state, asKept(asked, facts), recording, facts)
  if (model && unlessExists) return []
  const request = asKept(asked, facts)
  if (model && orReplace) return [...retrain(model.state, request, facts, true), ...recorded(recording, model.state)]
  if (model) throw conflict('model', name)
  if (view) throw new Problem('already_exists', 'Name conflict', `${name} is the name of a view in this project`)
  refuseTableName(name)
  const engine = engineBehind(request.engine, facts)
  checkSource(engine, request)
  if (!project) return []
  return [
    { type: 'ModelCreated', data: { project: project.stream, name } },
    { type: 'ModelTrainingRequested', data: { ...request, using: optionsFor(engine, request.using, {}), version: 1 } },
    { type: 'ModelVersionActivated', data: { version: 1 } },
    ...recorded(recording),
  ]
}

/** Whether a version goes on from the rows of another one: its own query gives the new ones only. */
export const isFinetuned = ({ using }: ModelVersion): boolean => using[baseVersionKey] !== undefined

/** What another version takes over of whether rows are kept: who once said no must not have to say it again. */
const keeping = ({ keep_training_data: keep }: ModelVersion): { keep_training_data?: boolean } =>
  keep === undefined ? {} : { keep_training_data: keep }

/** What a new version learns from: what is said, or what an earlier one had. An import has no query. */
const sourceOf = (
  model: Model,
  engine: EngineInfo,
  said: Partial<Pick<Request, 'database' | 'query'>>,
): Pick<Request, 'database' | 'query'> => {
  // The query of a fine-tuned version gives its new rows only.
  const whole = importsFile(engine.name) ? { database: 'files', query: '' } : model.versions.findLast((version) => !isFinetuned(version))
  const { database = whole?.database, query = whole?.query } = said
  if (database !== undefined && query !== undefined) return { database, query }
  throw wrong(
    `All versions of ${model.name} go on from rows of versions that are gone`,
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
  const using = optionsFor(engine, changes.using, optionsOf(last.using), anew)
  return [{ type: 'ModelTrainingRequested', data: { ...request, using, version: model.latest + 1 } }]
}

const finetune = (model: Model, version: number | null, request: Refinement, facts: Facts): ModelEvent[] => {
  const wanted = version ?? model.active
  const base = wanted === null ? undefined : versionOf(model, wanted)
  if (base?.status !== 'complete')
    throw new Problem(
      'not_ready',
      'Model is not ready',
      `version ${base?.version ?? 1} of ${model.name} has status ${base?.status ?? 'error'}: there is nothing to go on from`,
      {
        hint: 'Wait until it is complete, or name another version: FINETUNE model.1 FROM ….',
      },
    )
  if (base.result && wasImported(base.result))
    throw wrong(`${model.name} was imported: there are no rows that it could go on from`, 'Train it elsewhere, and import the new file.')
  checkRoom(model)
  const { engine, target, tag } = base
  const using = { ...optionsFor(engineBehind(engine, facts), request.using, optionsOf(base.using)), [baseVersionKey]: base.version }
  return [{ type: 'ModelTrainingRequested', data: { engine, target, tag, ...keeping(base), ...request, using, version: model.latest + 1 } }]
}

const isBusy = ({ status }: ModelVersion): boolean => status === 'generating' || status === 'training'

/** Why a training that was cancelled has no model; who did it stands on the event. */
const cancelled = 'the training was cancelled; RETRAIN starts it again'

/** Ends the training of a version, or of the one that waits or runs when none is named. */
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

/** Whether a model takes another training. */
const checkRoom = (model: Model): void => {
  if (model.versions.length >= limits.modelMaxVersions)
    throw new Problem('too_large', 'Too many versions', `${model.name} has ${model.versions.length} versions, the most there can be`, {
      hint: 'Drop versions that are no longer needed.',
    })
  const busy = model.versions.find(isBusy)
  if (busy)
    throw new Problem('not_ready', 'Model is being trained', `version ${busy.version} of ${model.name} is still ${busy.status}`, {
      hint: `Wait until it is complete, or end it: CANCEL TRAINING ${model.name}.`,
    })
}

/** A training that outlived its model or its version says nothing any more. */
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

/** What is decided on models. Instead of a rollback an earlier version is activated. */
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
