import { wrong } from '../errors.js'
import { limits } from '../limits.js'
import { checkLevel } from './interval.js'
import { outputs, type Predictor } from './predictor.js'
import { isRemote, type AnyPredictor } from './remote.js'
import type { ClassLabel } from './task.js'
import { readCell, readText } from './values.js'

export type InputRow = Readonly<Record<string, unknown>>
export type AnswerRow = Record<string, unknown>

/** What one row was predicted to be, in the target's own type. What the model does not know is `null`, as bounds are for classes. */
type Prediction = {
  value: ClassLabel | null
  confidence: number | null
  min: number | null
  max: number | null
  probabilities: readonly (number | null)[]
}

/** A model that has no such number gives NaN. */
const known = (number: number): number | null => (Number.isNaN(number) ? null : number)

const readPrediction = ({ target, kind }: AnyPredictor, out: Float64Array, at: number): Prediction => {
  const value = out[at + outputs.value]!
  const confidence = known(out[at + outputs.confidence]!)
  if (kind === 'regression') {
    const [min, max] = [known(out[at + outputs.min]!), known(out[at + outputs.max]!)]
    return { value: known(value), confidence, min, max, probabilities: [] }
  }
  const classes = target.classes ?? []
  const probabilities = classes.map((_, index) => known(out[at + outputs.probabilities + index]!))
  return { value: classes[value]!, confidence, min: null, max: null, probabilities }
}

/** The truth in the target's type when the row has it, else `null`. */
const truthOf = ({ target }: AnyPredictor, row: InputRow, names: ReadonlyMap<string, string>, rowIndex: number): ClassLabel | null => {
  const sent = [...names].find(([, name]) => name === target.name)?.[0]
  const value = sent === undefined ? null : row[sent]
  if (value === null || value === undefined) return null
  const read = target.type === 'text' ? readText(value) : readCell(target.type, value)
  if (read === undefined || read === null || Number.isNaN(read))
    throw wrong(`Row ${rowIndex}, column "${target.name}": ${JSON.stringify(value)} is not usable as ${target.type}`)
  return target.type === 'boolean' ? read === 1 : read
}

const anomalyOf = ({ min, max }: Prediction, truth: ClassLabel | null): boolean | null =>
  min === null || max === null || typeof truth !== 'number' ? null : truth < min || truth > max

const explain = (prediction: Prediction, classes: readonly ClassLabel[], truth: ClassLabel | null, anomaly: boolean | null): string => {
  const { value, confidence, min, max, probabilities } = prediction
  const bounds = min === null ? {} : { confidence_lower_bound: min, confidence_upper_bound: max }
  const ofClasses = Object.fromEntries(classes.map((label, index) => [`probability_class_${label}`, probabilities[index]]))
  return JSON.stringify({ predicted_value: value, confidence, anomaly, truth, ...bounds, ...ofClasses })
}

/** The input columns as they are answered: sent ones first in the order sent, then the model's others as `null`. */
const echo = (predictor: AnyPredictor, row: InputRow, names: ReadonlyMap<string, string>): [string, unknown][] => {
  const sent = [...names]
    .filter(([, name]) => name !== predictor.target.name)
    .map(([as, name]): [string, unknown] => [name, row[as] ?? null])
  const there = new Set(sent.map(([name]) => name))
  return [...sent, ...predictor.inputs.filter(({ name }) => !there.has(name)).map(({ name }): [string, unknown] => [name, null])]
}

const answerRow = (predictor: AnyPredictor, row: InputRow, rowIndex: number, prediction: Prediction): AnswerRow => {
  const names = new Map(Object.keys(row).map((sent) => [sent, predictor.nameOf(sent, rowIndex)]))
  const truth = truthOf(predictor, row, names, rowIndex)
  const anomaly = anomalyOf(prediction, truth)
  const target = predictor.target.name
  return {
    ...Object.fromEntries(echo(predictor, row, names)),
    [target]: prediction.value,
    __service_row_id: null,
    select_data_query: null,
    when_data: null,
    [`${target}_original`]: truth,
    [`${target}_confidence`]: prediction.confidence,
    [`${target}_explain`]: explain(prediction, predictor.target.classes ?? [], truth, anomaly),
    [`${target}_anomaly`]: anomaly,
    [`${target}_min`]: prediction.min,
    [`${target}_max`]: prediction.max,
  }
}

type Params = { confidence?: unknown }

/** The level that is asked for, when one is. */
const levelIn = ({ confidence }: Params, rows: number): number | undefined => {
  if (rows > limits.predictMaxRows) throw wrong(`${rows} rows were sent, at most ${limits.predictMaxRows} are predicted at once`)
  return confidence === undefined || confidence === null ? undefined : checkLevel(confidence)
}

const answersOf = (predictor: AnyPredictor, rows: readonly InputRow[], out: Float64Array): AnswerRow[] =>
  rows.map((row, rowIndex) => answerRow(predictor, row, rowIndex, readPrediction(predictor, out, rowIndex * predictor.outputWidth)))

/**
 * Predicts rows of plain values and answers them as documented: every input column, the predicted value under the target's
 * name, and what is known about it. `params.confidence` asks for intervals of another level. A row that sends the target
 * is told how the prediction compares. Problems (`wrong_arguments`) name the row and the column.
 *
 * @example answerRows(predictor, [{ sqft: 823, location: 'good' }])[0]?.['rental_price'] // 2847
 */
export const answerRows = (predictor: Predictor, rows: readonly InputRow[], params: Params = {}): AnswerRow[] => {
  const { width, outputWidth } = predictor
  const level = levelIn(params, rows.length) ?? predictor.confidence
  const features = new Float64Array(rows.length * width)
  const out = new Float64Array(rows.length * outputWidth)
  rows.forEach((row, rowIndex) => {
    predictor.encodeRow(row, rowIndex, features, rowIndex * width)
  })
  predictor.predictBatch(features, rows.length, out, level)
  return answersOf(predictor, rows, out)
}

/**
 * The same for a model that may run in a process of its own.
 *
 * @example (await answerAnyRows(predictor, [{ sqft: 823, location: 'good' }]))[0]?.['rental_price'] // 2847
 */
export const answerAnyRows = async (predictor: AnyPredictor, rows: readonly InputRow[], params: Params = {}): Promise<AnswerRow[]> => {
  if (!isRemote(predictor)) return answerRows(predictor, rows, params)
  // It has no intervals whose level could be another one; what is no level is refused all the same.
  levelIn(params, rows.length)
  return answersOf(predictor, rows, await predictor.predictRows(rows))
}
