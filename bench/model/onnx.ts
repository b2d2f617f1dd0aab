import { nodeKinds, type Forest } from '../../src/models/engines/tabular/boosting/forest.js'
import { encode, message, type Message } from './protobuf.js'

const ints = 7n
const floats = 6n
const strings = 8n

const intsOf = (name: string, values: readonly number[]) => message([1, name], [20, ints], [8, values])
const floatsOf = (name: string, values: readonly number[]) => message([1, name], [20, floats], [7, Float32Array.from(values)])
const textsOf = (name: string, values: readonly string[]) =>
  message([1, name], [20, strings], ...values.map((value) => [9, Buffer.from(value)] as const))

/** The largest single-precision number that is not above: single-precision rows then take the same branches. */
const roundedDown = (value: number): number => {
  const single = Math.fround(value)
  if (single <= value) return single
  const bits = new Int32Array(Float32Array.of(single).buffer)
  bits[0] = single > 0 ? bits[0]! - 1 : bits[0]! + 1
  return new Float32Array(bits.buffer)[0]!
}

type Node = { tree: number; id: number; feature: number; value: number; mode: string; left: number; right: number; missingLeft: number }

/** The nodes of a tree in ONNX's form: first the inner ones, then the leaves, numbered from 0. */
const nodesOf = (forest: Forest, tree: number): { nodes: Node[]; leaves: { id: number; weight: number }[] } => {
  const nodes: Node[] = []
  const leaves: { id: number; weight: number }[] = []
  const place = (node: number): number => {
    const id = nodes.length
    const at: Node = { tree, id, feature: 0, value: 0, mode: 'LEAF', left: 0, right: 0, missingLeft: 0 }
    nodes.push(at)
    if (node < 0) {
      leaves.push({ id, weight: forest.leaves[~node]! })
      return id
    }
    if (forest.kinds[node]! > nodeKinds.missingLeft) throw new Error('only numbers can be converted')
    Object.assign(at, { feature: forest.features[node], value: roundedDown(forest.thresholds[node]!), mode: 'BRANCH_LEQ' })
    at.missingLeft = forest.kinds[node] === nodeKinds.missingLeft ? 1 : 0
    at.left = place(forest.children[2 * node]!)
    at.right = place(forest.children[2 * node + 1]!)
    return id
  }
  place(forest.roots[tree]!)
  return { nodes, leaves }
}

const tensorType = (rows: 'N', columns: number): Message =>
  message([1, message([1, 1n], [2, message([1, message([2, rows])], [1, message([1, BigInt(columns)])])])])

/** A forest of numbers with one output as an ONNX model of one TreeEnsembleRegressor: input `x` [N, width], output `y` [N, 1]. */
export const toOnnx = (forest: Forest, width: number): Uint8Array => {
  const trees = Array.from(forest.roots, (_, tree) => nodesOf(forest, tree))
  const nodes = trees.flatMap((tree) => tree.nodes)
  const targets = trees.flatMap(({ leaves }, tree) => leaves.map((leaf) => ({ tree, ...leaf })))
  const of = (key: Exclude<keyof Node, 'mode'>) => nodes.map((node) => node[key])
  const attributes = [
    intsOf('nodes_treeids', of('tree')),
    intsOf('nodes_nodeids', of('id')),
    intsOf('nodes_featureids', of('feature')),
    floatsOf('nodes_values', of('value')),
    textsOf(
      'nodes_modes',
      nodes.map(({ mode }) => mode),
    ),
    intsOf('nodes_truenodeids', of('left')),
    intsOf('nodes_falsenodeids', of('right')),
    intsOf('nodes_missing_value_tracks_true', of('missingLeft')),
    intsOf(
      'target_treeids',
      targets.map(({ tree }) => tree),
    ),
    intsOf(
      'target_nodeids',
      targets.map(({ id }) => id),
    ),
    intsOf(
      'target_ids',
      targets.map(() => 0),
    ),
    floatsOf(
      'target_weights',
      targets.map(({ weight }) => weight),
    ),
    floatsOf('base_values', [forest.start[0]!]),
    message([1, 'n_targets'], [20, 2n], [3, 1n]),
  ]
  const node = message([1, 'x'], [2, 'y'], [4, 'TreeEnsembleRegressor'], [7, 'ai.onnx.ml'], ...attributes.map((each) => [5, each] as const))
  const value = (name: string, columns: number) => message([1, name], [2, tensorType('N', columns)])
  const graph = message([1, node], [2, 'trees'], [11, value('x', width)], [12, value('y', 1)])
  const opsets = [message([1, ''], [2, 15n]), message([1, 'ai.onnx.ml'], [2, 3n])]
  return encode(message([1, 8n], [7, graph], ...opsets.map((opset) => [8, opset] as const)))
}
