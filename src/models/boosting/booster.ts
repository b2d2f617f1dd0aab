import { allRows } from '../folds.js'
import { draw, type Random } from '../random.js'
import type { BinnedTable } from './bins.js'
import type { Grower } from './grower.js'
import type { Loss } from './loss.js'
import type { Tree } from './tree.js'

/** The share of rows, and of features, that each tree sees. */
const sampledShare = 0.8

const without = (rows: number, taken: Int32Array): Int32Array => {
  const marks = new Uint8Array(rows)
  for (const row of taken) marks[row] = 1
  return allRows(rows).filter((row) => marks[row] === 0)
}

/**
 * One boosting run: learns from `learned` rows and keeps the scores of all rows of the table, also of those held out,
 * so that a fold's loss on unseen rows is known after every round.
 */
export class Booster {
  /** Output by output, see `Loss`. */
  readonly scores: Float64Array
  readonly heldOut: Int32Array
  readonly start: Float64Array
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
    private readonly learned: Int32Array,
    private readonly random: Random,
  ) {
    const { rows, features } = table
    this.heldOut = without(rows, learned)
    this.start = loss.start(labels, learned)
    this.scores = new Float64Array(rows * loss.outputs)
    this.start.forEach((score, output) => this.scores.fill(score, output * rows, (output + 1) * rows))
    this.gradients = new Float64Array(rows)
    this.hessians = new Float64Array(rows)
    this.picked = new Int32Array(Math.ceil(learned.length * sampledShare))
    this.left = new Int32Array(learned.length - this.picked.length)
    this.sampled = new Int32Array(this.picked.length)
    this.others = new Int32Array(rows - this.picked.length)
    this.features = new Int32Array(Math.ceil(features.length * sampledShare))
    this.unused = new Int32Array(features.length - this.features.length)
  }

  /** Grows one tree for each output and adds it to the scores. */
  round(): Tree[] {
    draw(this.learned.length, this.picked.length, this.random, this.picked, this.left)
    return Array.from({ length: this.loss.outputs }, (_, output) => this.growTree(output))
  }

  /** The summed loss over the rows that this run has not learned from. */
  heldOutLoss(): number {
    return this.loss.sum(this.scores, this.labels, this.heldOut)
  }

  private growTree(output: number): Tree {
    const { learned, picked, left, sampled, others, scores } = this
    // Growing reorders both row arrays, so each tree starts from the draw again.
    for (let index = 0; index < picked.length; index++) sampled[index] = learned[picked[index]!]!
    for (let index = 0; index < left.length; index++) others[index] = learned[left[index]!]!
    others.set(this.heldOut, left.length)
    draw(this.table.features.length, this.features.length, this.random, this.features, this.unused)
    this.loss.derive(scores, this.labels, output, this.gradients, this.hessians)
    const base = output * this.table.rows
    const { gradients, hessians, features } = this
    return this.grower.grow({ sampled, others, gradients, hessians, features }, ({ value, rows, start, end }) => {
      for (let index = start; index < end; index++) {
        const at = base + rows[index]!
        scores[at] = scores[at]! + value
      }
    })
  }
}
