import type { JsonObject } from '../../../../events/common.js'
import { recordings, type Recording } from '../../../../events/model.js'
import type { ModelCommand } from '../../../commands/model.js'
import { Problem, wrong } from '../../../basics/errors.js'
import { defaultEngine, engineNamed, isEngineName } from '../../../catalogue/engines.js'
import { baseVersionKey } from '../../../catalogue/engine-options.js'
import { forecastName } from '../../../catalogue/forecast-options.js'
import { importsFile, mayImport, refuseToTrain, usualTarget } from '../../../catalogue/onnx-import.js'
import { readOnnxOptions } from '../../../catalogue/onnx-options.js'
import type { CommandInputs } from './command-inputs.js'
import { otherSettings, switchSetting, textSetting } from '../../../dialect/settings.js'
import type { StatementOf, TrainingClauses } from '../../statements/statement.js'

const targetOf = ({ predict }: TrainingClauses): string | undefined => {
  if (predict.length > 1) throw wrong(`a model predicts one column, not ${predict.length}`, 'Create a model for each column.')
  return predict[0]
}

/** The options that ORDER BY, GROUP BY, WINDOW and HORIZON set. */
const clausesOf = ({ orderBy, groupBy, window, horizon }: TrainingClauses): JsonObject => {
  const [order, second] = orderBy
  if (second)
    throw wrong(`a series is ordered by one column, not by ${orderBy.length}`, 'Columns that tell series apart stand in GROUP BY.')
  if (order?.descending) throw wrong('a series is ordered from the past on', `ORDER BY ${order.column}`)
  return {
    ...(order && { order_by: order.column }),
    ...(groupBy.length > 0 && { group_by: groupBy }),
    ...(window !== null && { window }),
    ...(horizon !== null && { horizon }),
  }
}

/** The engine of a statement. With the default engine, or without any, ORDER BY selects the engine for series. */
const engineOf = ({ using, orderBy }: TrainingClauses): string | undefined => {
  const said = textSetting(using, 'engine')
  if (orderBy.length === 0 || (said !== undefined && engineNamed(said)?.name !== defaultEngine)) return said
  return forecastName
}

/**
 * Whether a statement without ORDER BY may be about series: through a user's name for an engine, or as a new version of a model of series.
 */
const mayBeSeries = (training: TrainingClauses): boolean => {
  const engine = engineOf(training)
  return engine === undefined ? training.predict.length === 0 : engineNamed(engine)?.isOfSeries === true || !isEngineName(engine)
}

/** The options for the engine, from USING and from the clauses. */
const optionsOf = (training: TrainingClauses): JsonObject => {
  const said = otherSettings(training.using, ownSettings)
  const clauses = clausesOf(training)
  const twice = Object.keys(clauses).find((name) => Object.hasOwn(said, name))
  if (twice !== undefined) throw wrong(`${twice} is said twice: in USING, and as ${twice.toUpperCase().replace('_', ' ')}`)
  const options = { ...said, ...clauses }
  const stray = Object.keys(clauses)[0]
  if (stray !== undefined && !Object.hasOwn(options, 'order_by') && !mayBeSeries(training))
    throw wrong(
      `${stray.toUpperCase().replace('_', ' ')} is of series, and there is no ORDER BY`,
      "PREDICT y ORDER BY date HORIZON 12 makes series; USING group_by = 'k' keeps rows that belong together in one fold.",
    )
  return options
}

const seedOf = ({ using: { seed } }: TrainingClauses, inputs: CommandInputs): number => {
  if (seed === undefined || seed === null) return inputs.seed()
  if (typeof seed !== 'number' || !Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
    throw wrong('seed must be a whole number from 0 to 4294967295')
  return seed
}

/** Settings of this service; the engine gets all others. */
const ownSettings = ['engine', 'tag', 'active', 'seed', 'recording', 'keep_training_data', 'join_learn_process']

/** Whether the model's answers are kept, if the settings contain this. */
const recordingOf = (settings: JsonObject): Recording | undefined => {
  const said = textSetting(settings, 'recording')
  const recording = recordings.find((known) => known === said?.toLowerCase())
  if (said !== undefined && recording === undefined) throw wrong(`recording is all or off, not ${said}`)
  return recording
}

const refuseRecording = ({ using }: TrainingClauses): void => {
  if (using['recording'] !== undefined)
    throw wrong('recording is the whole model’s, not a version’s', "ALTER MODEL name SET recording = 'off'")
}

/** The command of `ALTER MODEL name SET …`, which has one setting. */
export const alterModel = ({ target, set }: StatementOf<'alter_model'>, inputs: CommandInputs): ModelCommand => {
  const recording = recordingOf(set)
  const others = Object.keys(set).filter((key) => key !== 'recording')
  if (recording === undefined || others.length > 0)
    throw wrong(
      `ALTER MODEL sets recording${others.length > 0 ? `, not ${others.join(', ')}` : ''}`,
      "ALTER MODEL name SET recording = 'off'; RETRAIN makes a version with other settings, SET active name.version chooses one.",
    )
  return { type: 'SetModelRecording', data: { project: target.project ?? inputs.db, model: target.name, recording } }
}

/** The parts of a request that the statement contains. */
const saidOf = (training: TrainingClauses, db: string) => {
  const { source, using } = training
  const engine = engineOf(training)
  const tag = textSetting(using, 'tag')
  const target = targetOf(training)
  const keep = switchSetting(using, 'keep_training_data')
  const options = optionsOf(training)
  if (baseVersionKey in options)
    throw wrong(`${baseVersionKey} cannot be set`, 'FINETUNE model FROM database (SELECT …) goes on from a version.')
  return {
    ...(engine !== undefined && { engine }),
    ...(tag !== undefined && { tag }),
    ...(keep !== undefined && { keep_training_data: keep }),
    ...(target !== undefined && { target }),
    ...(source && { query: source.query, database: source.database ?? db }),
    ...(Object.keys(options).length > 0 && { using: options }),
  }
}

/** Whether a statement imports a file. If the user named the engine, only the command can decide this. */
const isImport = ({ source, using }: TrainingClauses): boolean =>
  importsFile(using['engine']) || (source === null && mayImport(using['engine']))

/** The parts of a request for an imported model: its file is among the options. */
const importOf = (training: TrainingClauses, db: string) => {
  if (training.source) refuseToTrain()
  const said = saidOf(training, db)
  if (importsFile(said.engine)) readOnnxOptions(said.using ?? {})
  return { target: usualTarget, ...said, query: '', database: 'files' }
}

/**
 * The command of `CREATE MODEL`. It has the seed of the statement or a new one. The version is active unless the statement says otherwise.
 *
 * @throws Problem bad_statement for a missing data source, wrong_arguments for settings that contradict each other
 */
export const createModel = (
  { target, training, ifNotExists, replace }: StatementOf<'create_model'>,
  inputs: CommandInputs,
): ModelCommand => {
  const project = target.project ?? inputs.db
  const { query, database, target: column, ...said } = isImport(training) ? importOf(training, inputs.db) : saidOf(training, inputs.db)
  if (query === undefined || database === undefined || column === undefined)
    throw new Problem('bad_statement', 'No training data', `CREATE MODEL ${target.name} does not say what to learn from`, {
      hint: 'CREATE MODEL name FROM database (SELECT …) PREDICT column',
    })
  const request = {
    engine: defaultEngine,
    tag: null,
    using: {},
    ...said,
    query,
    database,
    target: column,
    seed: seedOf(training, inputs),
    activate: switchSetting(training.using, 'active') ?? true,
  }
  const recording = recordingOf(training.using)
  const data = { project, model: target.name, request, unlessExists: ifNotExists, orReplace: replace }
  return { type: 'CreateModel', data: { ...data, ...(recording !== undefined && { recording }) } }
}

/**
 * The command of `RETRAIN` and of `FINETUNE`. Both make a new version.
 *
 * @throws Problem wrong_arguments for a RETRAIN with a version, and for wrong settings
 */
export const retrainModel = ({ verb, target, training }: StatementOf<'retrain_model'>, inputs: CommandInputs): ModelCommand => {
  refuseRecording(training)
  if (verb === 'finetune') return finetune(target, training, inputs)
  if (target.version !== null) throw wrong('RETRAIN makes a new version; it takes the name of the model without a version')
  const request = {
    ...saidOf(training, inputs.db),
    seed: seedOf(training, inputs),
    activate: switchSetting(training.using, 'active') ?? true,
  }
  return { type: 'RetrainModel', data: { project: target.project ?? inputs.db, model: target.name, request } }
}

/** A version that learns from the stored rows of another version and from new rows. */
const finetune = (target: StatementOf<'retrain_model'>['target'], training: TrainingClauses, inputs: CommandInputs): ModelCommand => {
  const { engine, target: column, query, database, ...said } = saidOf(training, inputs.db)
  if (query === undefined || database === undefined)
    throw wrong('FINETUNE does not say where the new rows are', 'FINETUNE model FROM database (SELECT …)')
  if (engine !== undefined || column !== undefined)
    throw wrong('FINETUNE keeps the engine and the target of the version that it goes on from', 'RETRAIN takes others.')
  const request = {
    query,
    database,
    seed: seedOf(training, inputs),
    activate: switchSetting(training.using, 'active') ?? true,
    ...said,
  }
  const { project, name, version } = target
  return { type: 'FinetuneModel', data: { project: project ?? inputs.db, model: name, version, request } }
}

/** The command of `CANCEL TRAINING`; without a version it cancels the waiting or running training. */
export const cancelTraining = ({ target }: StatementOf<'cancel_training'>, inputs: CommandInputs): ModelCommand => {
  const { project, name, version } = target
  return { type: 'CancelTraining', data: { project: project ?? inputs.db, model: name, version } }
}

/** The command of `SET active name.version`. */
export const activateModel = ({ target }: StatementOf<'activate_model'>, inputs: CommandInputs): ModelCommand => {
  const { project, name, version } = target
  return { type: 'ActivateModelVersion', data: { project: project ?? inputs.db, model: name, version } }
}
