import type { WorkerPool } from './boosting/worker-pool.js'
import { crossFit, refit, type BoostingData } from './boosting/cross-fit.js'
import { squaredLoss } from './boosting/loss.js'
import type { Tree } from './boosting/tree.js'
import type { BinnedTable } from './boosting/bins.js'
import { predictedRows, rowsInside, rowsOutside, type Folds } from '../../data/folds.js'
import { refitFactor, type Boosting } from './plan.js'
import { quantileAt, quantilesOf } from '../../numerics/quantiles.js'

/**
 * The width of intervals: half of it is quantile(level) × spread^(exponent / 4), where the spread is the scale trees' prediction of a row's
 * absolute residual, at least `floor`. Exponent 0 means the same width for every row, without trees.
 */
export type PredictionInterval = {
  exponent: number
  floor: number
  quantiles: Float64Array
  scale: { start: Float64Array; trees: Tree[] } | undefined
}

/**
 * Intervals at a level: the share of truths within them, and their mean width. The intervals of each row were learned from the rows of
 * other folds.
 */
export type Coverage = { confidence: number; rows: number; coverage: number; mean_width: number }

const coverageLevels = [0.5, 0.8, 0.9, 0.95, 0.99]

export const intervalMethod = {
  name: 'cv-normalised',
  about: 'Cross-validated residuals normalised by a cross-fitted spread model, no exact finite-sample guarantee',
} as const

/** spread^(quarters / 4) by square roots: the power function differs between versions of Node, the square root does not. */
export const quarterPower = (spread: number, quarters: number): number => {
  if (quarters === 0) return 1
  if (quarters === 4) return spread
  const half = Math.sqrt(spread)
  if (quarters === 2) return half
  const quarter = Math.sqrt(half)
  return quarters === 1 ? quarter : half * quarter
}

/** The mean interval score (Gneiting and Raftery 2007): the width, plus a penalty for each miss in proportion to its distance. */
const intervalScore = (residuals: Float64Array, halves: Float64Array, level: number): number => {
  const fine = 2 / (1 - level)
  return (
    residuals.reduce((sum, residual, row) => sum + 2 * halves[row]! + fine * Math.max(0, residual - halves[row]!), 0) / residuals.length
  )
}

type Candidate = { exponent: number; powers: Float64Array; quantiles: Float64Array; score: number }

const candidate = (residuals: Float64Array, spreads: Float64Array, exponent: number, level: number): Candidate => {
  const powers = spreads.map((spread) => quarterPower(spread, exponent))
  const quantiles = quantilesOf(
    residuals.map((residual, row) => residual / powers[row]!),
    residuals.length + 1,
  )
  const factor = quantileAt(quantiles, level)
  return {
    exponent,
    powers,
    quantiles,
    score: intervalScore(
      residuals,
      powers.map((power) => factor * power),
      level,
    ),
  }
}

/** Measures intervals of one fold after the other, with quantiles of the rows of all others. */
const coverageOf = (residuals: Float64Array, powers: Float64Array, folds: Folds, level: number): Coverage[] => {
  const scaled = residuals.map((residual, row) => residual / powers[row]!)
  const measured = Array.from({ length: folds.count }, (_, fold) => {
    const others = Float64Array.from(rowsOutside(folds, fold), (row) => scaled[row]!)
    return { quantiles: quantilesOf(others, others.length + 1), rows: rowsInside(folds, fold) }
  })
  const levels = [...new Set([...coverageLevels, level])].sort((one, other) => one - other)
  return levels.map((confidence) => {
    const sum = { within: 0, widths: 0 }
    for (const { quantiles, rows } of measured) {
      const factor = quantileAt(quantiles, confidence)
      for (const row of rows) {
        sum.within += scaled[row]! <= factor ? 1 : 0
        sum.widths += 2 * factor * powers[row]!
      }
    }
    return { confidence, rows: residuals.length, coverage: sum.within / residuals.length, mean_width: sum.widths / residuals.length }
  })
}

/** The limits of rounds for `fitInterval`: in the folds, and on all rows, where it uses a tenth more rounds than in the folds. */
export const intervalRounds = ({ mostRounds }: Boosting): number => mostRounds + Math.round(mostRounds * refitFactor)

/**
 * Learns the width of intervals from out-of-fold absolute residuals (one per row; those of rows that no fold predicts are ignored). The
 * spread model is fitted to them in the same folds, so that each row's spread comes from a model that has not seen its residual: an
 * in-sample fit would look sharper than it is and the intervals would cover too little. Without other folds no coverage is measured.
 */
export const fitInterval = (
  table: BinnedTable,
  residuals: Float64Array,
  folds: Folds,
  rules: Boosting,
  {
    seed,
    level,
    pool,
    goesOn,
    onRound,
  }: { seed: number; level: number; pool?: WorkerPool; goesOn?: (done: number) => boolean; onRound: (done: number) => void },
): { interval: PredictionInterval; coverage: Coverage[] } => {
  const data: BoostingData = { table, labels: residuals, loss: squaredLoss, seed: (seed ^ 0x5ca1e) >>> 0 }
  const limits = { most: rules.mostRounds, patience: rules.patience, ...(goesOn && { goesOn }), ...(pool && { pool }) }
  const learned = predictedRows(folds)
  const known = Float64Array.from(learned, (row) => residuals[row]!)
  // With a single fold there is no other fold from which to learn its spread.
  const spread = folds.count < 2 ? undefined : crossFit(data, { count: folds.count, of: folds.of }, rules, limits, onRound)
  const floor = known.reduce((sum, residual) => sum + residual, 0) / known.length / 10
  const spreads = Float64Array.from(learned, (row) => Math.max(spread?.scores[row] ?? 0, floor))
  const exponents = !spread || spread.best === 0 || floor === 0 ? [0] : [0, 1, 2, 3, 4]
  const candidates = exponents.map((exponent) => candidate(known, spreads, exponent, level))
  const best = candidates.reduce((one, other) => (other.score < one.score ? other : one))
  const rounds = Math.max(1, Math.round((spread?.best ?? 0) * refitFactor))
  const again = { rounds, learned, onRound: (done: number) => onRound(rules.mostRounds + done) }
  const scale = best.exponent === 0 ? undefined : refit(data, rules, again)
  const dealt = { count: folds.count, of: Int8Array.from(learned, (row) => folds.of[row]!) }
  const coverage = spread ? coverageOf(known, best.powers, dealt, level) : []
  return { interval: { exponent: best.exponent, floor, quantiles: best.quantiles, scale }, coverage }
}
