import type { Folds } from '../folds.js'
import { allRows, rowsOutside } from '../folds.js'
import { Random } from '../random.js'
import type { BinnedTable } from './bins.js'
import { Booster } from './booster.js'
import { Grower, type GrowthRules } from './grower.js'
import type { Loss } from './loss.js'

export type CrossFit = {
  /** The number of rounds with the smallest loss, summed over all folds (see `worthwhile`). */
  best: number
  /** Whether the loss still fell when the cap was reached. */
  capped: boolean
  /** The scores of every row at that round, by the run that did not learn from it; output by output. */
  scores: Float64Array
}

/** A loss has to fall by this share of it to count as smaller: less is not worth the trees. */
const worthwhile = 1e-4

/** What all boosting runs of a training share. */
export type BoostingData = { table: BinnedTable; labels: Float64Array; loss: Loss; seed: number }

const collect = (boosters: readonly Booster[], rows: number, into: Float64Array): void => {
  for (const { scores, heldOut } of boosters)
    for (let base = 0; base < into.length; base += rows) for (const row of heldOut) into[base + row] = scores[base + row]!
}

/**
 * Boosts all folds side by side, round by round. Because the folds advance together, the loss that stops them and
 * chooses the rounds is the summed one: the optimum of a single small fold is mostly chance.
 */
export const crossFit = (
  { table, labels, loss, seed }: BoostingData,
  folds: Folds,
  rules: GrowthRules,
  { most, patience }: { most: number; patience: number },
  onRound: (done: number) => void,
): CrossFit => {
  const grower = new Grower(table, rules)
  const boosters = Array.from(
    { length: folds.count },
    (_, fold) => new Booster(table, grower, loss, labels, rowsOutside(folds, fold), new Random(seed, 100 + fold)),
  )
  const summed = () => boosters.reduce((sum, booster) => sum + booster.heldOutLoss(), 0)
  const scores = new Float64Array(table.rows * loss.outputs)
  collect(boosters, table.rows, scores)
  let [best, least] = [0, summed()]
  let round = 0
  while (round < most && round - best < patience) {
    for (const booster of boosters) booster.round()
    round++
    const now = summed()
    onRound(round)
    if (now > least * (1 - worthwhile)) continue
    least = now
    best = round
    collect(boosters, table.rows, scores)
  }
  return { best, capped: round === most && round - best < patience, scores }
}

/** Boosts on all rows for a fixed number of rounds; the trees come round by round, within a round output by output. */
export const refit = ({ table, labels, loss, seed }: BoostingData, rules: GrowthRules, rounds: number, onRound: (done: number) => void) => {
  const booster = new Booster(table, new Grower(table, rules), loss, labels, allRows(table.rows), new Random(seed, 99))
  const trees = Array.from({ length: rounds }, (_, round) => {
    const grown = booster.round()
    onRound(round + 1)
    return grown
  }).flat()
  return { start: booster.start, trees }
}
