/**
 * Room: names and options of engines, connections and language models, and the names that agents may use, light enough for every process.
 * It imports only events and basics.
 */

import type { JsonObject } from '../../events/common.js'
import { Problem } from '../basics/errors.js'
import { connectionEngines, driverOf, whyNotOpened } from './connection-engines.js'
import { constantOptions, readOptions, tableOptions, usableOptions, type OptionsSchema } from './engine-options.js'
import { forecastName, forecastOptions, seriesOptions } from './forecast-options.js'
import { onnxName, onnxOptions } from './onnx-options.js'

/**
 * The part of an engine that commands and statements use. Its training is in `src/models/engines/engines.ts`, for the training processes.
 */
export type EngineInfo = {
  name: string
  title: string
  about: string
  /** The engine behind this name, if the name is an alias. */
  standsFor?: string
  /** Its options in USING. */
  options: OptionsSchema
  /** Options that define the model: a new version keeps them unless it sets its own. */
  lasting?: readonly string[]
  /** Whether its models predict series. */
  isOfSeries?: true
  /** Whether its models come from uploaded files. It learns from no rows. */
  importsFile?: true
}

/** The engine of a statement without an engine. */
export const defaultEngine = 'auto'

/** The engines by the names that users write, in display order. */
export const engineInfos: readonly EngineInfo[] = [
  {
    name: defaultEngine,
    title: 'Automatic',
    about: 'Boosted trees, a linear model or a blend of both, whichever predicts best out of fold. The default engine.',
    options: tableOptions,
  },
  { name: 'boosted_trees', title: 'Boosted trees', about: 'Gradient boosted trees alone.', options: tableOptions },
  {
    name: 'linear',
    title: 'Linear model',
    about: 'Ridge regression for numbers, logistic regression for classes, alone.',
    options: tableOptions,
  },
  {
    name: forecastName,
    title: 'Forecast',
    about: 'Series: exponential smoothing, Theta or their median, picked for each series by its own past. The engine of ORDER BY.',
    options: forecastOptions,
    lasting: seriesOptions,
    isOfSeries: true,
  },
  {
    name: onnxName,
    title: 'ONNX',
    about: 'Imports a model that was trained elsewhere: an uploaded ONNX file.',
    options: onnxOptions,
    importsFile: true,
  },
  {
    name: 'constant',
    title: 'Constant',
    about: 'Answers every row with the mean, or with the share of each class. Another engine must beat this to have learned anything.',
    options: constantOptions,
  },
  {
    name: 'lightwood',
    title: 'Automatic',
    standsFor: defaultEngine,
    about: 'Another name of auto, which existing statements use. Its models are models of auto.',
    options: tableOptions,
  },
]

const byName: ReadonlyMap<string, EngineInfo> = new Map(engineInfos.map((info) => [info.name, info]))

/** Whether a name (compared without case) is the name or an alias of an engine. */
export const isEngineName = (name: string): boolean => byName.has(name.toLowerCase())

/**
 * The engine with this name or alias (compared without case).
 *
 * @example engineNamed('lightwood')?.name // 'auto'
 */
export const engineNamed = (name: string): EngineInfo | undefined => {
  const named = byName.get(name.toLowerCase())
  return named?.standsFor === undefined ? named : byName.get(named.standsFor)
}

/** The refusal of an unknown engine name. */
export const unknownEngine = (name: string): Problem =>
  new Problem('not_found', 'ML handler not found', `There is no engine "${name}"; the engines are ${[...byName.keys()].join(', ')}`, {
    hint: `CREATE ML_ENGINE ${name} FROM ${defaultEngine} makes it another name of an existing engine; SHOW ML_ENGINES lists them all.`,
  })

/** @throws Problem when an engine does not have one of the options, or cannot use its value */
export const checkOptions = ({ name, options }: EngineInfo, said: JsonObject): void => {
  readOptions(name, options, said)
}

/** Whether an option defines the models of an engine. */
const defines = ({ lasting = [] }: EngineInfo, name: string): boolean => lasting.includes(name)

/** The options of a version, and the engine that they are for. */
export type EngineOptions = { engine: EngineInfo; options: JsonObject }

/**
 * The options of an earlier version that an engine can use. An option that defines the models of only one of the two engines has another
 * meaning in the other one, and is left out.
 */
export const optionsTakenOver = (engine: EngineInfo, { engine: from, options }: EngineOptions): JsonObject =>
  Object.fromEntries(
    Object.entries(usableOptions(engine.options, options)).filter(([name]) => defines(engine, name) === defines(from, name)),
  )

/** The options of an earlier version that stay when a new version sets others. */
export const lastingOptions = (engine: EngineInfo, { engine: from, options }: EngineOptions): JsonObject =>
  Object.fromEntries(Object.entries(options).filter(([name]) => defines(engine, name) && defines(from, name)))

/** The meaning of an engine's name. `unavailable` says why a known engine cannot be used. */
export type Handler = { name: string; type: 'ml' | 'data'; title: string; description: string; unavailable: string | null }

const own: readonly Handler[] = [
  ...engineInfos.map(({ name, title, about }): Handler => ({ name, type: 'ml', title, description: about, unavailable: null })),
  { name: 'files', type: 'data', title: 'Files', description: 'Reads uploaded files.', unavailable: null },
]

/** The handlers that CREATE ML_ENGINE may name. */
export const trainingHandlers: readonly string[] = own.flatMap(({ name, type }) => (type === 'ml' ? [name] : []))

/** Everything that can be named as an engine: training engines, readable formats, and the systems that a connection may name. */
export const knownHandlers: readonly Handler[] = [
  ...own,
  ...[...connectionEngines].map(([name, title]): Handler => {
    if (driverOf(name)) return { name, type: 'data', title, description: `Reads tables of ${title}.`, unavailable: null }
    const description = `Keeps a connection to ${title} with encrypted secrets, for clients that read it over REST.`
    return { name, type: 'data', title, description, unavailable: whyNotOpened(name) }
  }),
]
