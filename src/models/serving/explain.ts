import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { outputs, type Predictor } from '../engines/tabular/predictor.js'
import { isRemote, type AnyPredictor } from '../engines/contract/remote.js'

/** The parts of a prediction, on the named scale: `base` + all `inputs` + `rest` = `sum`. */
export type Explanation = {
  method: string
  scale: string
  base: number
  inputs: Record<string, number>
  /** The effect of rounding, or of mixing the probabilities of trees and linear part. */
  rest: number
  sum: number
}

const method = 'path contributions (Saabas) of the trees and terms of the linear part; quick and biased, no Shapley values'
/** Keeps the logarithm finite for a probability of 0 or 1. */
const leastProbability = 1e-15

const logit = (probability: number): number => {
  const kept = Math.min(Math.max(probability, leastProbability), 1 - leastProbability)
  return Math.log(kept / (1 - kept))
}

/** The logarithm of one of several probabilities minus the mean of all their logarithms. */
const centredLog = (probabilities: readonly number[], at: number): number => {
  const logs = probabilities.map((probability) => Math.log(Math.max(probability, leastProbability)))
  return logs[at]! - logs.reduce((sum, log) => sum + log, 0) / logs.length
}

/** @throws Problem for an unknown kind of explanation, a model that cannot explain itself, or too many rows */
export const checkExplain = (asked: unknown, predictor: AnyPredictor, rows: number): void => {
  if (asked !== 'contributions')
    throw wrong(`params.explain: there is no ${JSON.stringify(asked)}`, 'Send "explain": "contributions", or leave it out.')
  if (isRemote(predictor))
    throw wrong('params.explain: an imported model cannot say what each input contributed', 'Leave it out: the file has outputs only.')
  if (!predictor.contributions) throw wrong('params.explain: the engine of this model cannot say what each input contributed')
  if (rows > limits.explainMaxRows)
    throw wrong(`${rows} rows; at most ${limits.explainMaxRows} are explained at once`, 'Send them in several requests.')
}

/**
 * The contribution of each input to one row's prediction. Numbers are explained on their own scale, two classes by log-odds, and several
 * classes by the logarithm of a probability minus the mean over all classes.
 *
 * @example explainRow(predictor, features, 0, out, 0)?.inputs // { sqft: 812.5, location: -40.2 }
 */
export const explainRow = (
  { contributions, inputs, target }: Predictor,
  features: Float64Array,
  offset: number,
  out: Float64Array,
  at: number,
): Explanation | undefined => {
  if (!contributions) return undefined
  const said = contributions.of(features, offset)
  const value = out[at + outputs.value]!
  const classes = target.classes ?? []
  const label = JSON.stringify(classes[value])
  const results = said.score.length
  // With two classes, the scores are those of the second one.
  const sign = classes.length === 2 && value === 0 ? -1 : 1
  const centre = (of: Float64Array, input: number, width: number): number => {
    if (results === 1) return sign * of[input]! + 0
    let mean = 0
    for (let result = 0; result < results; result++) mean += of[result * width + input]! / results
    return of[value * width + input]! - mean
  }
  const base = centre(said.base, 0, 1)
  const parts = inputs.map(({ name }, input): [string, number] => [name, centre(said.inputs, input, inputs.length)])
  const score = parts.reduce((sum, [, part]) => sum + part, base)
  const explained = { method, base, inputs: Object.fromEntries(parts) }
  if (classes.length === 0) return { ...explained, scale: 'value', rest: value - score, sum: value }
  const scale = results === 1 ? `log-odds of ${label}` : `log-probability of ${label} less the mean over the classes`
  if (!contributions.mixes) return { ...explained, scale, rest: 0, sum: score }
  const probabilities = classes.map((_, index) => out[at + outputs.probabilities + index]!)
  const sum = results === 1 ? logit(probabilities[value]!) : centredLog(probabilities, value)
  return { ...explained, scale, rest: sum - score, sum }
}
