import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { keepsRows, type Model, type ModelVersion } from '../../../events/model.js'
import type { Progress } from '../../models/engines/tabular/fit.js'
import { optionsOf } from '../../catalogue/engine-options.js'
import { maskSecrets } from '../../vault/seal-secrets.js'

/** Rows as objects, with the values in the order of the columns. */
export type NamedRows = JsonObject[]

const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.map(object) : [])
const read = (value: JsonObject, key: string): Json => value[key] ?? null
/** A cell of a column with values of all kinds. */
const asText = (value: Json): string | null => (value === null || typeof value === 'string' ? value : JSON.stringify(value))

/** The engine of a model, and the name in the statement if it differs from the engine's name. */
const engineOf = (report: JsonObject): string => {
  const { name, version, asked } = object(report['engine'])
  const engine = [name, version].flatMap((part) => (typeof part === 'string' ? [part] : [])).join(' ')
  return typeof asked === 'string' ? `${engine}, which ${asked} stands for` : engine
}

const info = (report: JsonObject): NamedRows => [
  {
    accuracies: read(report, 'metrics'),
    column_importances: Object.fromEntries(
      objects(report['importances']).flatMap(({ name, importance = null }) =>
        typeof name === 'string' ? [[name, importance] as const] : [],
      ),
    ),
    outputs: [read(object(report['target']), 'name')],
    inputs: objects(report['inputs']).map((input) => read(input, 'name')),
    ...(report['fine_tuned'] !== undefined && { fine_tuned: report['fine_tuned'] }),
  },
]

const features = (report: JsonObject): NamedRows => {
  const target = object(report['target'])
  return [
    ...objects(report['inputs']).map((input) => ({
      column: read(input, 'name'),
      type: read(input, 'type'),
      encoder: read(input, 'role'),
      role: 'feature',
    })),
    { column: read(target, 'name'), type: read(target, 'type'), encoder: read(report, 'task'), role: 'target' },
  ]
}

/** A short explanation of each metric. */
export const metricMeanings: Readonly<Record<string, string>> = {
  r2: 'Share of the spread that is explained: 1 is all of it, 0 is the result of the mean.',
  rmse: 'Root of the mean squared miss.',
  mae: 'Mean miss.',
  mase: 'Series only: mean miss, divided by the mean miss of a repetition of the previous season.',
  mape: 'Series only: mean miss as a share of the true value.',
  accuracy: 'Share of rows whose class was right.',
  balanced_accuracy: 'Mean over the classes of the share of their rows that was found.',
  log_loss: 'Mean of -log(probability of the true class).',
  auc: 'Chance that a row of the second class has a higher probability of it than one of the first.',
  ece: 'How far confidence and accuracy are apart, on average.',
}

const metrics = (report: JsonObject): NamedRows =>
  Object.entries(object(report['metrics'])).map(([metric, value]) => ({ metric, value, about: metricMeanings[metric] ?? null }))

const importances = (report: JsonObject): NamedRows =>
  objects(report['importances']).map((each) => ({ column: read(each, 'name'), importance: read(each, 'importance') }))

const classes = (report: JsonObject): NamedRows => {
  const weights = new Map(objects(report['class_weights']).map((each) => [each['class'], read(each, 'weight')]))
  return objects(report['by_class']).map((each) => ({
    class: read(each, 'class'),
    rows: read(each, 'rows'),
    precision: read(each, 'precision'),
    recall: read(each, 'recall'),
    weight: weights.get(each['class']) ?? 1,
  }))
}

const data = (report: JsonObject, { query, database, result }: ModelVersion): NamedRows => {
  const fact = (name: string, value: Json, detail: string | null) => ({ fact: name, value: asText(value), detail })
  const warnings = objects(report['warnings']).map((each) => fact('warning', read(each, 'kind'), asText(read(each, 'detail'))))
  const { onnx } = report
  // An imported model has not learned from rows in this service: only the uploaded file describes it.
  if (isObject(onnx)) return [...Object.entries(onnx).map(([name, value]) => fact(name, value, null)), ...warnings]
  return [
    fact('rows', read(report, 'rows'), 'Rows that it learned from.'),
    fact('query', query, database === '' ? 'In the project of the model.' : `In ${database}.`),
    fact('read_at', result?.read_at ?? null, 'Position of the log at which the query read.'),
    ...(result?.connections ?? []).map(({ connection, name, version }) =>
      fact('connection', name, `Version ${version} of ${connection}. Its rows cannot be read again as they were.`),
    ),
    fact(
      'matrix',
      result?.matrix ?? null,
      result && !keepsRows(result) ? 'SHA-256 of the rows, which were not kept.' : 'SHA-256 of the kept rows.',
    ),
    ...Object.entries(object(report['fine_tuned'])).map(([name, value]) =>
      fact(name, value, 'Of the fine-tuning: the version that it continues, how many of its rows were kept, and how many are new.'),
    ),
    ...objects(report['by_class']).map((each) => fact('class', read(each, 'class'), `${asText(read(each, 'rows')) ?? 'No'} rows.`)),
    ...objects(report['excluded']).map((each) => fact('excluded', read(each, 'name'), asText(read(each, 'reason')))),
    ...warnings,
  ]
}

const plan = (report: JsonObject, version: ModelVersion): NamedRows => {
  const line = (name: string, value: Json) => ({ name, value: asText(value) })
  return [
    line('engine', engineOf(report)),
    ...Object.entries(object(report['plan'])).map(([name, value]) => line(name, value)),
    line('dealt', read(report, 'dealt')),
    line('seed', version.seed),
    line('options', maskSecrets(optionsOf(version.using))),
    line('runtime', version.result?.runtime ?? null),
  ]
}

const learner = (report: JsonObject, { result }: ModelVersion): NamedRows => [
  {
    name: read(object(report['engine']), 'name'),
    performance: result?.accuracy ?? null,
    training_time: result?.seconds ?? null,
    selected: 1,
    accuracy_functions: JSON.stringify(Object.keys(object(report['metrics']))),
  },
]

/** The trainings of a model: one for each version, the newest first, and the progress of the running one. */
export const jobs = ({ versions }: Model, progressOf: (version: number) => Progress | undefined): NamedRows =>
  versions
    .map((version) => {
      // For a moment after its end, a training still counts as running.
      const progress = version.status === 'training' ? progressOf(version.version) : undefined
      return {
        version: version.version,
        status: version.status,
        current_phase: progress?.phase ?? null,
        done: progress?.done ?? null,
        total: progress?.total ?? null,
        engine: version.engine,
        tag: version.tag,
        rows: version.result?.rows ?? null,
        seconds: version.result?.seconds ?? null,
        error: version.error,
      }
    })
    .reverse()

/** The details of a trained version, from the report of its training. */
export const attributes: Readonly<Record<string, (report: JsonObject, version: ModelVersion) => NamedRows>> = {
  info,
  features,
  metrics,
  importances,
  data,
  plan,
  classes,
  confusion: (report) => objects(report['confusion']),
  calibration: (report) => objects(report['calibration']),
  residuals: (report) => objects(report['residuals']),
  coverage: (report) => objects(report['coverage']),
  series: (report) => (isObject(report['series']) ? [report['series']] : []),
  model: learner,
  jsonai: (report) => [{ json_ai: JSON.stringify(report, null, 2) }],
}
