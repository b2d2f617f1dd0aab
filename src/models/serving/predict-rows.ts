import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import { checkExplain, explainRow, type Explanation } from './explain.js'
import { checkLevel } from '../engines/contract/confidence-level.js'
import { outputs, type Predictor } from '../engines/tabular/predictor.js'
import { isRemote, type AnyPredictor } from '../engines/contract/remote.js'
import { checkValue, readTruth } from '../data/check-values.js'
import type { ClassLabel } from '../data/task.js'
import { readCell, type ColumnDescriptor } from '../data/values.js'

export type InputRow = Readonly<Record<string, unknown>>
export type AnswerRow = Record<string, unknown>

/** The prediction of one row, in the target's own type. Values that the model does not know are `null`, such as bounds for classes. */
type Prediction = {
  value: ClassLabel | null
  confidence: number | null
  min: number | null
  max: number | null
  probabilities: readonly (number | null)[]
}

/** Turns NaN, which means that the model does not know the number, into null. */
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
  return { value: classes[value] ?? null, confidence, min: null, max: null, probabilities }
}

/** The column names of a row as sent, each with the model's own name. */
type Names = ReadonlyMap<string, string>

/** The truth in the target's type if the row has it, else `null`. */
const truthOf = ({ target }: AnyPredictor, row: InputRow, names: Names, rowIndex: number): ClassLabel | null => {
  const sent = [...names].find(([, name]) => name === target.name)?.[0]
  const value = sent === undefined ? null : row[sent]
  if (value === null || value === undefined) return null
  return readTruth(target.type, value, `Row ${rowIndex}, column "${target.name}"`)
}

const anomalyOf = ({ min, max }: Prediction, truth: ClassLabel | null): boolean | null =>
  min === null || max === null || typeof truth !== 'number' ? null : truth < min || truth > max

const explain = (
  prediction: Prediction,
  classes: readonly ClassLabel[],
  truth: ClassLabel | null,
  anomaly: boolean | null,
  contributions: Explanation | undefined,
): string => {
  const { value, confidence, min, max, probabilities } = prediction
  const ofClasses = Object.fromEntries(classes.map((label, index) => [`probability_class_${label}`, probabilities[index]]))
  return JSON.stringify({
    predicted_value: value,
    confidence,
    anomaly,
    truth,
    confidence_lower_bound: min,
    confidence_upper_bound: max,
    ...ofClasses,
    ...(contributions && { contributions }),
  })
}

/** A value with the type of its column: a number that was sent as text is the number that the model read. */
const typed = (input: ColumnDescriptor | undefined, value: unknown): unknown =>
  (typeof value === 'string' && (input?.type === 'number' || input?.type === 'integer') ? readCell(input.type, value) : undefined) ??
  value ??
  null

/** The input columns of the answer: first the sent ones in the order sent, then the model's others as `null`. */
const echo = (predictor: AnyPredictor, row: InputRow, names: Names): [string, unknown][] => {
  const inputs = inputsByName(predictor)
  const sent = [...names]
    .filter(([, name]) => name !== predictor.target.name)
    .map(([as, name]): [string, unknown] => [name, typed(inputs.get(name), row[as])])
  const there = new Set(sent.map(([name]) => name))
  return [...sent, ...predictor.inputs.filter(({ name }) => !there.has(name)).map(({ name }): [string, unknown] => [name, null])]
}

type Row = { row: InputRow; rowIndex: number; names: Names }

const answerRow = (predictor: AnyPredictor, { row, rowIndex, names }: Row, prediction: Prediction, explained?: Explanation): AnswerRow => {
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
    [`${target}_explain`]: explain(prediction, predictor.target.classes ?? [], truth, anomaly, explained),
    [`${target}_anomaly`]: anomaly,
    [`${target}_min`]: prediction.min,
    [`${target}_max`]: prediction.max,
  }
}

const columnsOf = new WeakMap<AnyPredictor, ReadonlyMap<string, ColumnDescriptor>>()

/** The inputs of a model by name, computed once. */
const inputsByName = (predictor: AnyPredictor): ReadonlyMap<string, ColumnDescriptor> => {
  const known = columnsOf.get(predictor)
  if (known) return known
  const made = new Map(predictor.inputs.map((input) => [input.name, input]))
  columnsOf.set(predictor, made)
  return made
}

/** Checks a row before it is encoded. @throws Problem for an unknown column, or a value of another type */
const readRow = (predictor: AnyPredictor, row: InputRow, rowIndex: number): Row => {
  const inputs = inputsByName(predictor)
  const names = new Map<string, string>()
  for (const sent of Object.keys(row)) {
    const name = predictor.nameOf(sent, rowIndex)
    const input = inputs.get(name)
    if (input) checkValue(input, row[sent], rowIndex)
    names.set(sent, name)
  }
  return { row, rowIndex, names }
}

/** The options of a prediction request. */
export type AnswerParams = { confidence?: unknown; explain?: unknown }

/** The same, checked: the level of intervals, if another than the model's own, and whether rows are explained. */
type AnswerOptions = { level: number | undefined; explains: boolean }

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** The characters of a number and its marks in an explanation. */
const numberChars = 24

/** Refuses rows whose explanations would need too much memory: each has the texts of all classes. */
const refuseLongExplanations = ({ target: { classes = [] } }: AnyPredictor, rows: number): void => {
  const perRow = classes.reduce<number>((sum, label) => sum + `"probability_class_${label}":`.length + numberChars, 0)
  if (rows * perRow <= limits.predictMaxExplainedChars) return
  const detail = `the explanations of ${rows} rows would have more than ${limits.predictMaxExplainedChars} characters (predictMaxExplainedChars)`
  throw new Problem('too_large', 'Too large', detail, {
    hint: `Send at most ${Math.floor(limits.predictMaxExplainedChars / perRow)} rows at a time: the classes have long texts.`,
  })
}

/** Checks the options of a request. @throws Problem for too many rows, or an unknown level or explanation */
const readParams = (predictor: AnyPredictor, rows: number, { confidence, explain: way }: AnswerParams): AnswerOptions => {
  if (rows > limits.predictMaxRows) throw wrong(`${rows} rows were sent, at most ${limits.predictMaxRows} are predicted at once`)
  refuseLongExplanations(predictor, rows)
  if (isGiven(way)) checkExplain(way, predictor, rows)
  return { level: isGiven(confidence) ? checkLevel(confidence) : undefined, explains: isGiven(way) }
}

/** The rows of the first turn of the event loop; those of later turns follow from the measured time of a row. */
const firstRows = 16
const firstExplained = 1

/** Answers some rows of a request, starting at `from`. */
const answerSome = (predictor: Predictor, all: readonly InputRow[], from: number, to: number, options: AnswerOptions): AnswerRow[] => {
  const { width, outputWidth } = predictor
  const { level = predictor.confidence, explains } = options
  const rows = all.slice(from, to)
  const features = new Float64Array(rows.length * width)
  const out = new Float64Array(rows.length * outputWidth)
  const read = rows.map((row, i) => {
    const made = readRow(predictor, row, from + i)
    predictor.encodeRow(row, from + i, features, i * width)
    return made
  })
  predictor.predictBatch(features, rows.length, out, level)
  return read.map((row, i) => {
    const at = i * outputWidth
    const explained = explains ? explainRow(predictor, features, i * width, out, at) : undefined
    return answerRow(predictor, row, readPrediction(predictor, out, at), explained)
  })
}

/** Answers all rows of a request, some in each turn of the event loop. */
const answerInTurns = async (predictor: Predictor, rows: readonly InputRow[], params: AnswerParams): Promise<AnswerRow[]> => {
  const options = readParams(predictor, rows.length, params)
  const answers: AnswerRow[] = []
  const work = new LongWork()
  for (let atOnce = options.explains ? firstExplained : firstRows; answers.length < rows.length;) {
    const began = performance.now()
    const made = answerSome(predictor, rows, answers.length, answers.length + atOnce, options)
    for (const answer of made) answers.push(answer)
    const perRow = (performance.now() - began) / made.length
    atOnce = Math.max(1, Math.min(2 * atOnce, Math.floor(limits.turnMaxMs / perRow)))
    await work.pause()
  }
  return answers
}

/**
 * Predicts rows of plain values, and answers in the documented form: every input column, the predicted value under the target's name, and
 * the details of the prediction. `params.confidence` sets the level of intervals, `params.explain` asks for the contribution of each input.
 * If a row includes the target, the answer compares it with the prediction. A model in a process of its own has neither other levels nor
 * explanations.
 *
 * @throws Problem (`wrong_arguments`) that names the row, the column and what was expected
 * @example (await answerRows(predictor, [{ sqft: 823, location: 'good' }]))[0]?.['rental_price'] // 2847
 */
export const answerRows = async (predictor: AnyPredictor, rows: readonly InputRow[], params: AnswerParams = {}): Promise<AnswerRow[]> => {
  if (!isRemote(predictor)) return answerInTurns(predictor, rows, params)
  readParams(predictor, rows.length, params)
  const work = new LongWork()
  const read: Row[] = []
  for (const [rowIndex, row] of rows.entries()) {
    read.push(readRow(predictor, row, rowIndex))
    await work.pause()
  }
  const out = await predictor.predictRows(rows)
  const answers: AnswerRow[] = []
  for (const row of read) {
    answers.push(answerRow(predictor, row, readPrediction(predictor, out, row.rowIndex * predictor.outputWidth)))
    await work.pause()
  }
  return answers
}
