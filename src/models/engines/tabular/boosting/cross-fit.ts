import { allRows, rowsInside, type Folds } from '../../../data/folds.js'
import { shareDoubles } from '../../../numerics/thread-memory.js'
import type { BinnedTable } from './bins.js'
import { beginRun, Booster } from './booster.js'
import type { WorkerPool } from './worker-pool.js'
import {
  changesOf,
  collectScores,
  endRuns,
  giveRound,
  haveDone,
  lossAfter,
  prepareRuns,
  waitForChange,
  FoldWorker,
  type FoldRuns,
} from './fold-runs.js'
import { Grower, type GrowthRules } from './grower.js'
import type { Loss } from './loss.js'
import type { Tree } from './tree.js'

export type CrossFit = {
  /** The number of rounds with the smallest loss, summed over all folds (see `worthwhile`). */
  best: number
  /** Whether the loss was still falling when the limit of rounds was reached. */
  capped: boolean
  /** The scores of every row after that round, from the run of its fold, output by output; 0 for rows without a fold. */
  scores: Float64Array
}

/** A loss has to fall by this share to count as smaller: less is not worth the trees. */
const worthwhile = 1e-4

/** The data that all boosting runs of a training share. */
export type BoostingData = { table: BinnedTable; labels: Float64Array; loss: Loss; seed: number }

/** If there are fewer cells times outputs, a round ends before another thread could help. */
const fewestCellsToShare = 20_000

const isWorthSharing = ({ table, loss }: BoostingData): boolean => table.rows * table.features.length * loss.outputs >= fewestCellsToShare

/** Collects the rounds one after the other, and helps to compute them. */
const lead = (
  runs: FoldRuns,
  { patience, goesOn }: { patience: number; goesOn: (done: number) => boolean },
  scores: Float64Array,
  onRound: (done: number) => void,
): Omit<CrossFit, 'scores'> => {
  const held = runs.states.map((_, fold) => rowsInside(runs.folds, fold))
  const worker = new FoldWorker(runs)
  collectScores(runs, 0, held, scores)
  let [round, best, least] = [0, 0, lossAfter(runs, 0)]
  while (round < runs.most && round - best < patience && goesOn(round)) {
    const seen = changesOf(runs)
    if (!haveDone(runs, round + 1)) {
      if (!worker.advance()) waitForChange(runs, seen)
      continue
    }
    round++
    const now = lossAfter(runs, round)
    if (now <= least * (1 - worthwhile)) {
      least = now
      best = round
      collectScores(runs, round, held, scores)
    }
    giveRound(runs, round)
    onRound(round)
  }
  return { best, capped: round === runs.most && round - best < patience }
}

/**
 * Boosts all folds side by side, round by round. The rounds are collected together, so the summed loss decides when to stop and how many
 * rounds are best: the optimum of a single small fold is mostly chance. The result is the same, bit for bit, for any number of threads.
 */
export const crossFit = (
  data: BoostingData,
  folds: Folds,
  rules: GrowthRules,
  { most, patience, goesOn = () => true, pool }: { most: number; patience: number; goesOn?: (done: number) => boolean; pool?: WorkerPool },
  onRound: (done: number) => void,
): CrossFit => {
  const { table, loss, seed } = data
  const runs = prepareRuns({ table, labels: shareDoubles(data.labels), seed }, { classes: loss.classes, folds, rules, most })
  const scores = new Float64Array(table.rows * loss.outputs)
  try {
    if (isWorthSharing(data)) pool?.join(runs)
    return { ...lead(runs, { patience, goesOn }, scores, onRound), scores }
  } finally {
    endRuns(runs)
  }
}

/** The random stream of the last fit's draws; the other members of a mean use the streams below it. */
const refitStream = 99

type Refit = { rounds: number; learned: Int32Array; onRound: (done: number) => void }

const boostAll = (data: BoostingData, rules: GrowthRules, member: number, { rounds, learned, onRound }: Refit) => {
  const { table, labels, loss, seed } = data
  const { start, state } = beginRun(labels, loss, learned, seed, refitStream - member)
  const booster = new Booster(table, new Grower(table, rules), loss, labels, { learned, heldOut: new Int32Array() }, state)
  const trees = Array.from({ length: rounds }, (_, round) => {
    const grown = booster.round()
    onRound(round + 1)
    return grown
  }).flat()
  return { start, trees }
}

/**
 * Boosts on all rows, or on the given ones, for a fixed number of rounds. Returns the trees round by round, within a round output by
 * output. Several members are boosted independently with other draws, and their trees add up to the mean.
 */
export const refit = (
  data: BoostingData,
  rules: GrowthRules,
  { rounds, onRound, members = 1, learned = allRows(data.table.rows) }: Omit<Refit, 'learned'> & { members?: number; learned?: Int32Array },
) => {
  const runs = Array.from({ length: members }, (_, member) =>
    boostAll(data, rules, member, { rounds, learned, onRound: (done) => onRound(member * rounds + done) }),
  )
  const shared = (tree: Tree): Tree => (members === 1 ? tree : { ...tree, leaves: tree.leaves.map((value) => value / members) })
  return { start: runs[0]!.start, trees: runs.flatMap(({ trees }) => trees.map(shared)) }
}
