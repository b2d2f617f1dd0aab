import { foldName, type JsonObject } from '../../../events/common.js'
import type { Model, TrainingRequest } from '../../../events/model.js'
import { wrong } from '../../basics/errors.js'
import { byExactName, type Found, type Lookup } from '../../log/contract/lookups.js'
import { checkOptions, engineNamed, lastingOptions, optionsTakenOver, unknownEngine, type EngineInfo } from '../../catalogue/engines.js'
import { importsFile, refuseToTrain } from '../../catalogue/onnx-import.js'
import { replacedParams } from './params.js'

type OwnName = Found<'engine'> | undefined

/** What names of the users' own stand for: the one that a command says, and those under which versions of the model were asked for. */
export type EngineFacts = { engine: OwnName } & { [fact: `engine ${string}`]: OwnName }

const factOf = (name: string): `engine ${string}` => `engine ${foldName(name)}`

/** The names of engines under which versions of a model were asked for: the next one may go on with any of them. */
export const enginesOf = ({ versions }: Model): Record<`engine ${string}`, Lookup<OwnName>> =>
  Object.fromEntries(versions.flatMap(({ engine }) => (engineNamed(engine) ? [] : [[factOf(engine), byExactName('engine', engine)]])))

/** The name of an engine as it is kept. @throws Problem that lists the engines there are */
export const keptEngine = (name: string, { engine }: EngineFacts): string => {
  if (engineNamed(name)) return name.toLowerCase()
  if (!engine) throw unknownEngine(name)
  return engine.state.name
}

/** The engine behind a name. @throws Problem for one that was taken back */
export const engineBehind = (name: string, facts: EngineFacts): EngineInfo => {
  const found = engineNamed(name) ?? engineNamed((facts[factOf(name)] ?? facts.engine)?.state.handler ?? '')
  if (!found) throw unknownEngine(name)
  return found
}

/**
 * The options of a training: those that are said, whole (but for what the model is, unless it is made anew), or else what the
 * engine takes of those that the model had.
 *
 * @throws Problem for an option that the engine does not have, a value that it cannot use, or one that it needs
 */
export const optionsFor = (engine: EngineInfo, said: JsonObject | undefined, before: JsonObject, anew = false): JsonObject => {
  const options = said
    ? { ...(!anew && lastingOptions(engine, before)), ...replacedParams(before, said) }
    : optionsTakenOver(engine, before)
  checkOptions(engine, options)
  return options
}

/** An imported model has a file and no query, every other one a query. `engine` is what stands behind the name that was asked for. */
export const checkSource = (
  engine: EngineInfo,
  { engine: name, query, keep_training_data: keep }: Pick<TrainingRequest, 'engine' | 'query' | 'keep_training_data'>,
): void => {
  const isImport = importsFile(engine.name)
  if (isImport && query !== '') refuseToTrain()
  if (isImport && keep === false)
    throw wrong('keep_training_data speaks of rows, and an import has none', 'Leave it out; DROP the file, or erase it, when it shall go.')
  if (!isImport && query === '')
    throw wrong(`engine ${name} does not import files`, 'Say what to learn from: FROM database (SELECT …) PREDICT column.')
}
