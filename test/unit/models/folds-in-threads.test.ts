import { describe, expect, it } from '@jest/globals'
import { createHash } from 'node:crypto'
import { binFeature, binTable, type BinnedTable } from '../../../src/models/engines/tabular/boosting/bins.js'
import { WorkerPool } from '../../../src/models/engines/tabular/boosting/worker-pool.js'
import { crossFit, refit } from '../../../src/models/engines/tabular/boosting/cross-fit.js'
import {
  areOver,
  changesOf,
  endRuns,
  haveDone,
  prepareRuns,
  waitForChange,
} from '../../../src/models/engines/tabular/boosting/fold-runs.js'
import { lossOf } from '../../../src/models/engines/tabular/boosting/loss.js'
import { defineFeatures, featureValues } from '../../../src/models/data/features.js'
import { splitFolds } from '../../../src/models/data/fold-split.js'
import type { MatrixColumn } from '../../../src/models/data/matrix.js'
import { Random } from '../../../src/models/numerics/random.js'
import { train } from '../../support/models/train.js'
import { until } from '../../support/until.js'
import { friedman, matrixOf, mixture, type Table } from './tables.js'

const rules = { leaves: 15, learningRate: 0.1, minRows: 10, l2: 0, categorySmoothing: 20, categoryL2: 10 }

const binned = (table: Table): { table: BinnedTable; target: Float64Array } => {
  const { rows, columns } = matrixOf(table)
  const inputs = columns.slice(0, -1)
  const features = defineFeatures(inputs).map((feature) => binFeature(feature, featureValues(feature, inputs[feature.input]!)))
  return { table: binTable(rows, features), target: (columns.at(-1) as Extract<MatrixColumn, { numbers: Float64Array }>).numbers }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('folds in threads', () => {
  it.each([
    ['values', 0, (value: number) => value],
    ['two classes', 2, (value: number) => (value > 200 ? 1 : 0)],
    ['three classes', 3, (value: number) => (value > 260 ? 2 : value > 180 ? 1 : 0)],
  ])('give the same bits with 1, 2 and 3 of them: %s', (_, classes, labelOf) => {
    const { table, target } = binned(mixture(4000, 1))
    const labels = target.map(labelOf)
    const folds = splitFolds(labels, classes, 5, new Random(7, 1))
    const fits = [1, 2, 3].map((threads) => {
      const pool = new WorkerPool(threads)
      const rounds: number[] = []
      const data = { table, labels, loss: lossOf(classes), seed: 7 }
      const { best, capped, scores } = crossFit(data, folds, rules, { most: 25, patience: 10, pool }, (done) => rounds.push(done))
      pool.close()
      return { best, capped, rounds, scores: sha256(new Uint8Array(scores.buffer)) }
    })
    expect(fits[0]!.best).toBeGreaterThan(5)
    expect(fits[0]!.rounds).toEqual(Array.from({ length: 25 }, (__, round) => round + 1))
    expect(fits[1]).toEqual(fits[0])
    expect(fits[2]).toEqual(fits[0])
  })

  it.each([
    ['by chance', {}],
    ['by a rolling origin', { time_column: 'x4' }],
  ])('give a whole training the same artefact with 1, 2 and 3 of them: folds %s', (_, options) => {
    const matrix = matrixOf(friedman(2500, 4, { deviation: 2, growing: true }))
    const artefacts = [1, 2, 3].map((threads) => sha256(train(matrix, { target: 'y', seed: 5, ...options }, undefined, threads).artefact))
    expect(new Set(artefacts).size).toBe(1)
  })

  it('leave the mean of several members to the trees: each is boosted by itself', () => {
    const { table, target } = binned(friedman(300, 3))
    const data = { table, labels: target, loss: lossOf(0), seed: 7 }
    const done: number[] = []
    const [one, three] = [
      refit(data, rules, { rounds: 4, onRound: () => undefined }),
      refit(data, rules, { rounds: 4, members: 3, onRound: (round) => done.push(round) }),
    ]
    expect(three.start).toEqual(one.start)
    expect(three.trees).toHaveLength(12)
    expect(done).toEqual(Array.from({ length: 12 }, (_, round) => round + 1))
    expect(three.trees.slice(0, 4).map(({ leaves }) => leaves)).toEqual(one.trees.map(({ leaves }) => leaves.map((value) => value / 3)))
    expect(three.trees[4]?.leaves).not.toEqual(three.trees[0]?.leaves)
  })

  const runsOf = (most: number) => {
    const { table, target } = binned(friedman(1000, 2))
    const folds = splitFolds(target, 0, 3, new Random(7, 1))
    return prepareRuns({ table, labels: target, seed: 7 }, { classes: 0, folds, rules, most })
  }

  it('are worked on by the other threads too', async () => {
    const runs = runsOf(2)
    const pool = new WorkerPool(2)
    pool.join(runs)
    await until(() => haveDone(runs, 2))
    endRuns(runs)
    pool.close()
  })

  it('end with an error when another thread fails', async () => {
    const runs = runsOf(100)
    const pool = new WorkerPool(2)
    pool.join({ ...runs, states: [] })
    await until(() => areOver(runs))
    expect(() => haveDone(runs, 0)).toThrow('a thread of the training failed')
    pool.close()
  })

  it('sleep while there is nothing to do, for a moment at most', () => {
    const runs = runsOf(1)
    const from = performance.now()
    waitForChange(runs, changesOf(runs))
    expect(performance.now() - from).toBeGreaterThan(30)
    endRuns(runs)
    // The machine may hold up one of them, not all.
    const times = Array.from({ length: 10 }, () => {
      const after = performance.now()
      waitForChange(runs, changesOf(runs) - 1)
      return performance.now() - after
    })
    expect(Math.min(...times)).toBeLessThan(30)
  })
})
