import { describe, expect, it } from '@jest/globals'
import { nodeKinds, type Forest } from '../../../src/models/engines/tabular/boosting/forest.js'
import { compileForest } from '../../../src/models/engines/tabular/boosting/kernel.js'
import { layOut } from '../../../src/models/engines/tabular/boosting/layout.js'
import { Random } from '../../../src/models/numerics/random.js'

const width = 5
/** Features 3 and 4 are categories. */
const isCategory = (feature: number) => feature >= 3

/** A forest of trees of any shape; `sets` is how many different sets of categories its nodes draw from. */
const forestOf = (trees: number, outputs: number, sets: number, seed: number): Forest => {
  const random = new Random(seed)
  const nodes: { feature: number; kind: number; threshold: number; subset: number; children: [number, number] }[] = []
  const leaves: number[] = []
  const grow = (depth: number): number => {
    if (depth === 0 || random.below(4) === 0) return ~(leaves.push(random.below(1000) / 7) - 1)
    const feature = random.below(sets === 0 ? 3 : width)
    const missingLeft = random.below(2)
    const kind = (isCategory(feature) ? 2 : 0) + missingLeft
    // Some nodes only part what is missing from all numbers.
    const threshold = isCategory(feature) ? NaN : random.below(8) === 0 ? Infinity : random.below(100)
    const node = nodes.push({ feature, kind, threshold, subset: random.below(Math.max(sets, 1)), children: [0, 0] }) - 1
    nodes[node]!.children = [grow(depth - 1), grow(depth - 1)]
    return node
  }
  const roots = Int32Array.from({ length: trees }, () => grow(9))
  const bytes = Uint8Array.from({ length: 32 * sets }, () => random.below(256))
  const categories = nodes.filter(({ kind }) => kind >= nodeKinds.categoryMissingRight)
  let at = 0
  return {
    start: Float64Array.from({ length: outputs }, (_, output) => output / 3),
    roots,
    features: Uint16Array.from(nodes, ({ feature }) => feature),
    kinds: Uint8Array.from(nodes, ({ kind }) => kind),
    bins: new Uint8Array(nodes.length),
    children: Int32Array.from(nodes.flatMap(({ children }) => children)),
    leaves: Float32Array.from(leaves),
    subsets: Uint8Array.from(categories.flatMap(({ subset }) => [...bytes.subarray(32 * subset, 32 * subset + 32)])),
    subsetOf: Int32Array.from(nodes, ({ kind }) => (kind >= nodeKinds.categoryMissingRight ? 32 * at++ : -1)),
    thresholds: Float64Array.from(nodes, ({ threshold }) => threshold),
  }
}

/** What a forest means, one row and one tree at a time. */
const scoreOf = (forest: Forest, row: Float64Array): number[] => {
  const scores = [...forest.start]
  forest.roots.forEach((root, tree) => {
    let node = root
    while (node >= 0) {
      const value = row[forest.features[node]!]!
      const kind = forest.kinds[node]!
      const byte = forest.subsets[forest.subsetOf[node]! + (value >> 3)]!
      const left = Number.isNaN(value)
        ? kind % 2 === 1
        : kind >= nodeKinds.categoryMissingRight
          ? ((byte >> (value & 7)) & 1) === 1
          : value <= forest.thresholds[node]!
      node = forest.children[2 * node + (left ? 0 : 1)]!
    }
    scores[tree % scores.length]! += forest.leaves[~node]!
  })
  return scores
}

const rowsOf = (count: number, seed: number): Float64Array => {
  const random = new Random(seed)
  return Float64Array.from({ length: count * width }, (_, at) => {
    if (random.below(6) === 0) return NaN
    return isCategory(at % width) ? random.below(254) : random.below(40) === 0 ? Number.MAX_VALUE : random.below(1000) / 10
  })
}

describe('a compiled forest', () => {
  it.each([
    ['numbers', 37, 1, 0, false],
    ['few sets of categories', 37, 1, 5, false],
    ['many sets of categories', 37, 1, 500, true],
    ['several outputs', 39, 3, 5, false],
    ['several outputs and many sets', 39, 3, 500, true],
    ['fewer trees than are walked at once', 3, 1, 1, false],
    ['one tree', 1, 1, 0, false],
    ['no tree', 0, 2, 0, false],
  ])('gives every row what its trees say, alone and among others: %s', (_, trees, outputs, sets, bits) => {
    const forest = forestOf(trees, outputs, sets, 11 + trees)
    expect(layOut(forest).bits).toBe(bits)
    const run = compileForest(forest, width)
    for (const count of [1, 2, 3, 4, 5, 511, 1030]) {
      const features = rowsOf(count, count)
      const scores = new Float64Array(count * outputs).fill(NaN)
      run(features, count, scores)
      const expected = Array.from({ length: count }, (__, row) => scoreOf(forest, features.subarray(row * width, (row + 1) * width)))
      expect([...scores]).toEqual(expected.flat())
    }
  })

  it('takes trees that are a leaf', () => {
    const forest = { ...forestOf(0, 1, 0, 1), roots: Int32Array.of(~0, ~1), leaves: Float32Array.of(2, 3) }
    const scores = new Float64Array(2)
    compileForest(forest, width)(rowsOf(2, 1), 2, scores)
    expect([...scores]).toEqual([5, 5])
  })
})
