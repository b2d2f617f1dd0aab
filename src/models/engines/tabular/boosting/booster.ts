/** Room: boosted trees, grown on several threads. It imports only setup, models/numerics and models/data. */

import { draw, Random } from '../../../numerics/random.js'
import { sharedDoubles, sharedIntegers } from '../../../numerics/thread-memory.js'
import type { BinnedTable } from './bins.js'
import type { Grower } from './grower.js'
import type { Loss } from './loss.js'
import type { Tree } from './tree.js'

/** The share of rows, and of features, that each tree uses. */
const sampledShare = 0.8

/**
 * The whole state of a boosting run between rounds. It is in shared memory, so that the next free thread can continue the run. `scores` has
 * a place for each row of the table, output by output (see `Loss`), including held-out rows.
 */
export type RunState = { scores: Float64Array; random: Int32Array; leastGain: number }

/** A run before its first round: all rows have the constant start scores of the rows it learns from. */
export const beginRun = (labels: Float64Array, loss: Loss, learned: Int32Array, seed: number, stream: number) => {
  const rows = labels.length
  const start = loss.start(labels, learned)
  const state: RunState = {
    scores: sharedDoubles(rows * loss.outputs),
    random: sharedIntegers(4),
    leastGain: loss.leastGain(labels, learned),
  }
  start.forEach((score, output) => state.scores.fill(score, output * rows, (output + 1) * rows))
  new Random(seed, stream).save(state.random, 0)
  return { start, state }
}

/** The rows that a run learns from, and the held-out rows that it only predicts. */
export type RunRows = { learned: Int32Array; heldOut: Int32Array }

/**
 * One boosting run: learns from the `learned` rows and keeps the scores of these and of the held-out rows, so that a fold's loss on unseen
 * rows is known after every round. Besides the state it only holds scratch memory.
 */
export class Booster {
  readonly heldOut: Int32Array
  private readonly learned: Int32Array
  private readonly random = new Random(0)
  private readonly gradients: Float64Array
  private readonly hessians: Float64Array
  private readonly picked: Int32Array
  private readonly left: Int32Array
  private readonly sampled: Int32Array
  private readonly others: Int32Array
  private readonly features: Int32Array
  private readonly unused: Int32Array

  constructor(
    private readonly table: BinnedTable,
    private readonly grower: Grower,
    private readonly loss: Loss,
    private readonly labels: Float64Array,
    { learned, heldOut }: RunRows,
    private readonly state: RunState,
  ) {
    const { rows, features } = table
    this.learned = learned
    this.heldOut = heldOut
    this.gradients = new Float64Array(rows)
    this.hessians = new Float64Array(rows)
    this.picked = new Int32Array(Math.ceil(learned.length * sampledShare))
    this.left = new Int32Array(learned.length - this.picked.length)
    this.sampled = new Int32Array(this.picked.length)
    this.others = new Int32Array(this.left.length + heldOut.length)
    this.features = new Int32Array(Math.ceil(features.length * sampledShare))
    this.unused = new Int32Array(features.length - this.features.length)
  }

  /** Grows one tree per output and adds it to the scores. */
  round(): Tree[] {
    const { random, learned, picked, left, state } = this
    random.resume(state.random, 0)
    draw(learned.length, picked.length, random, picked, left)
    const trees = Array.from({ length: this.loss.outputs }, (_, output) => this.growTree(output))
    random.save(state.random, 0)
    return trees
  }

  /** The summed loss over the held-out rows. */
  heldOutLoss(): number {
    return this.loss.sum(this.state.scores, this.labels, this.heldOut)
  }

  private growTree(output: number): Tree {
    const { learned, picked, left, sampled, others, gradients, hessians, features } = this
    const { scores, leastGain } = this.state
    // Growing a tree reorders both row arrays, so each tree starts with the sampled order again.
    for (let index = 0; index < picked.length; index++) sampled[index] = learned[picked[index]!]!
    for (let index = 0; index < left.length; index++) others[index] = learned[left[index]!]!
    others.set(this.heldOut, left.length)
    draw(this.table.features.length, features.length, this.random, features, this.unused)
    this.loss.derive(scores, this.labels, output, sampled, gradients, hessians)
    const base = output * this.table.rows
    return this.grower.grow({ sampled, others, gradients, hessians, features, leastGain }, ({ value, rows, start, end }) => {
      for (let index = start; index < end; index++) {
        const at = base + rows[index]!
        scores[at] = scores[at]! + value
      }
    })
  }
}
