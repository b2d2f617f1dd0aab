import { foldName, type JsonObject } from '../../../events/common.js'
import type { Model, TrainingRequest } from '../../../events/model.js'
import { wrong } from '../../basics/errors.js'
import { byExactName, type Resource, type Lookup } from '../../log/contract/lookups.js'
import {
  checkOptions,
  engineNamed,
  lastingOptions,
  optionsTakenOver,
  unknownEngine,
  type EngineInfo,
  type EngineOptions,
} from '../../catalogue/engines.js'
import { importsFile, refuseToTrain } from '../../catalogue/onnx-import.js'
import { replacedParams } from './params.js'

type OwnName = Resource<'engine'> | undefined

/** The users' own names of engines: the one in the command, and those that the model's versions use. */
export type EngineFacts = { engine: OwnName } & { [fact: `engine ${string}`]: OwnName }

const factOf = (name: string): `engine ${string}` => `engine ${foldName(name)}`

/** Lookups of the names of engines that a model's versions use: the next version may use any of them. */
export const enginesOf = ({ versions }: Model): Record<`engine ${string}`, Lookup<OwnName>> =>
  Object.fromEntries(versions.flatMap(({ engine }) => (engineNamed(engine) ? [] : [[factOf(engine), byExactName('engine', engine)]])))

/** The name of an engine in its stored form. @throws Problem that lists the existing engines */
export const keptEngine = (name: string, { engine }: EngineFacts): string => {
  if (engineNamed(name)) return name.toLowerCase()
  if (!engine) throw unknownEngine(name)
  return engine.state.name
}

/** The engine that a name stands for; undefined when the name was deleted. */
export const engineIfKnown = (name: string, facts: EngineFacts): EngineInfo | undefined =>
  engineNamed(name) ?? engineNamed((facts[factOf(name)] ?? facts.engine)?.state.handler ?? '')

/** The engine that a name stands for. @throws Problem when the name was deleted */
export const engineBehind = (name: string, facts: EngineFacts): EngineInfo => {
  const found = engineIfKnown(name, facts)
  if (!found) throw unknownEngine(name)
  return found
}

/**
 * The options of a training. Given options replace all earlier ones, except those that define the model (unless it is created again).
 * Without given options, the engine takes over those of the model that it supports.
 *
 * @throws Problem for an unknown option, an invalid value, or a missing required option
 */
export const optionsFor = (engine: EngineInfo, said: JsonObject | undefined, before: EngineOptions, anew = false): JsonObject => {
  const options = said
    ? { ...(!anew && lastingOptions(engine, before)), ...replacedParams(before.options, said) }
    : optionsTakenOver(engine, before)
  checkOptions(engine, options)
  return options
}

/** Checks that an imported model has no query and that every other model has one. `engine` is the engine that the name stands for. */
export const checkSource = (
  engine: EngineInfo,
  { engine: name, query, keep_training_data: keep }: Pick<TrainingRequest, 'engine' | 'query' | 'keep_training_data'>,
): void => {
  const isImport = importsFile(engine.name)
  if (isImport && query !== '') refuseToTrain()
  if (isImport && keep === false)
    throw wrong('keep_training_data is about rows, and an import has no rows', 'Leave it out. To remove the file, DROP or erase it.')
  if (!isImport && query === '')
    throw wrong(`engine ${name} does not import files`, 'Say what to learn from: FROM database (SELECT …) PREDICT column.')
}
