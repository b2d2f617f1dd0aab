import type { GrowthRules } from './boosting/grower.js'

/** The input of a plan. It does not contain the time. */
export type TableShape = {
  rows: number
  features: number
  /** 0 for regression. */
  classes: number
  /** The rows of the rarest class; all rows for regression. */
  smallestClass: number
  /** The number of coefficients of a linear model. */
  coefficients: number
}

/** The user's preference between a short training and an accurate model. */
export type Preset = 'fast' | 'balanced' | 'best'

/** The settings of boosting: how trees grow, and how many rounds the folds may take. */
export type Boosting = GrowthRules & { mostRounds: number; patience: number }

export type Plan = {
  /** The rows to learn from; fewer than the table has when it is larger than training can use. */
  rows: number
  folds: number
  /** These settings are tried in order: the next one only if the folds need more rounds than the current one allows. */
  boosting: readonly [Boosting, ...Boosting[]]
  /** The number of times that the final model is fitted on all rows, each time with other draws; the prediction is the mean. */
  members: number
  /** How the spread of the residuals is learned, for a regression. */
  scale: Boosting
  /** Whether a linear model is fitted in the same folds, to be blended with the trees. */
  linear: boolean
}

/** The final fit has more rows than each fold had, so it uses a few more rounds. */
export const refitFactor = 1.1

const mostFolds = 5
const mostWork = 100_000_000
const mostLinearWork = 1_000_000_000
const mostCoefficients = 600
const mostTrees = 20_000

const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)

const growth = (rows: number) => ({
  minRows: clamp(Math.round(rows / 40), 5, 10),
  l2: 0,
  categorySmoothing: 20,
  categoryL2: 10,
})

const quick = { learningRate: 0.1, leaves: 31, patience: 50 }
const fine = { learningRate: 0.05, leaves: 15, patience: 50 }

/** The contents of a preset: the boosting settings with their limits of rounds, the folds, and the rounds for the spread. */
const presets = {
  fast: { ways: [{ ...quick, patience: 15, rounds: 250 }], folds: 3, members: 1, scaleRounds: 50 },
  balanced: {
    ways: [
      { ...fine, rounds: Math.floor(600 / refitFactor) },
      { ...quick, rounds: 1000 },
    ],
    folds: mostFolds,
    members: 1,
    scaleRounds: 200,
  },
  best: { ways: [{ ...fine, patience: 100, rounds: 4000 }], folds: mostFolds, members: 3, scaleRounds: 200 },
} as const

const boostings = (rows: number, outputs: number, preset: Preset): Plan['boosting'] => {
  const { members, ways } = presets[preset]
  const [first, ...others] = ways.map(({ rounds, ...way }): Boosting => {
    const most = Math.max(50, Math.min(rounds, Math.floor(mostTrees / outputs / members)))
    return { ...growth(rows), ...way, mostRounds: most }
  })
  const last = others.at(-1)
  if (!first) throw new Error('a preset has at least one way to boost')
  // In tables of this size the rounds of the finer settings have never been sufficient.
  return last && rows > 100_000 ? [last] : [first, ...others]
}

/**
 * The plan of a training. It depends only on the table's shape and the preset, so a repeated training has the same plan.
 *
 * @example makePlan({ rows: 5037, features: 6, classes: 0, smallestClass: 5037, coefficients: 20 }).folds // 5
 */
export const makePlan = (shape: TableShape, preset: Preset = 'balanced'): Plan => {
  const { folds, members, scaleRounds } = presets[preset]
  const outputs = shape.classes > 2 ? shape.classes : 1
  const rows = Math.min(shape.rows, Math.max(1000, Math.floor(mostWork / (shape.features * outputs))))
  const linearWork = rows * shape.features * (shape.classes > 0 ? 100 * outputs : shape.features)
  const rare = shape.classes > 0 && rows < 1000
  return {
    rows,
    folds: rows > 100_000 ? Math.min(folds, 3) : rare ? clamp(shape.smallestClass, 2, folds) : folds,
    boosting: boostings(rows, outputs, preset),
    members,
    scale: {
      ...growth(rows),
      minRows: clamp(Math.round(rows / 40), 5, 20),
      learningRate: 0.1,
      leaves: 15,
      mostRounds: scaleRounds,
      patience: 20,
    },
    linear: linearWork <= mostLinearWork && shape.coefficients <= mostCoefficients,
  }
}
