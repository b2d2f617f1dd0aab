/** Room: the Merkle tree over the events, and the proofs from it. It imports only events, basics, setup, log/contract and log/storage. */

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { sha256 } from '../../../events/stored/chain.js'

/** The bytes of one hash. */
export const hashBytes = 32

/** A tile is six levels of the tree: up to 64 hashes, and those above them. */
const tileLevels = 6
export const tileWidth = 64

/** Where each level of a tile begins, counted in hashes: there are 64, 32, 16, 8, 4 and 2. The root is in the tile above. */
const offsets = [0, 64, 96, 112, 120, 124] as const
const storedHashes = 126

/** The size of a complete tile as it is stored. */
const tileBytes = storedHashes * hashBytes

const scratch = Buffer.alloc(1 + 2 * hashBytes, 1)

/** RFC 9162: the hash of an inner node, `sha256(0x01 ‖ left ‖ right)`. */
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => {
  scratch.set(left, 1)
  scratch.set(right, 1 + hashBytes)
  return sha256(scratch)
}

const at = (nodes: Buffer, place: number): Buffer => nodes.subarray(place * hashBytes, (place + 1) * hashBytes)

const putPair = (nodes: Buffer, place: number): void => void nodes.copy(scratch, 1, place * hashBytes, (place + 2) * hashBytes)

/** Hash number `index` of a level of the tile; level 0 is the lowest. */
const hashIn = (nodes: Buffer, level: number, index: number): Buffer => at(nodes, (offsets[level] ?? 0) + index)

/** The root of a complete tile. */
const rootOf = (nodes: Buffer): Buffer => {
  putPair(nodes, storedHashes - 2)
  return sha256(scratch)
}

/** A growing tile: each new hash also adds those above it that become complete. */
class GrowingTile {
  readonly nodes = Buffer.alloc(tileBytes)
  #count = 0

  get isComplete(): boolean {
    return this.#count === tileWidth
  }

  push(added: Uint8Array): void {
    let index = this.#count++
    this.nodes.set(added, index * hashBytes)
    for (let level = 1; level < tileLevels && index % 2 === 1; level++) {
      const left = (offsets[level - 1] ?? 0) + index - 1
      index >>= 1
      putPair(this.nodes, left)
      // Each event costs about one of these hashes: a string takes half the time of a buffer.
      this.nodes.write(hash('sha256', scratch, 'binary'), ((offsets[level] ?? 0) + index) * hashBytes, 'binary')
    }
  }
}

/** Where complete tiles are stored. Level 0 is over the events, each other level over the roots of the level below. */
export type TileStore = {
  get(level: number, tile: number): Buffer
  put(level: number, tile: number, nodes: Buffer): void
}

/** The leaf hashes of events after a position. */
export type LeafReader = (after: number, limit: number) => Buffer[]

/** The root of the empty tree. */
const emptyRoot = sha256('')

/** The largest power of two below `n`: where RFC 9162 splits a tree of `n` leaves. */
const splitOf = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

/** The level of a complete subtree of `n` leaves. */
const levelOf = (n: number): number => Math.round(Math.log2(n))

/** The sizes of the complete subtrees that a tree of `size` leaves consists of, the largest first. */
const peaksOf = (size: number): number[] => {
  const peaks: number[] = []
  for (let rest = size, peak = splitOf(size + 1); rest > 0; peak /= 2)
    if (peak <= rest) {
      peaks.push(peak)
      rest -= peak
    }
  return peaks
}

/**
 * The Merkle tree over the log's events as RFC 9162 defines it; leaf `i` is the event at position `i + 1`.
 * Complete tiles are in a store; the growing ones at its right edge are in memory. It gives proofs for every size that the tree ever
 * had.
 *
 * @example
 * const tree = MerkleTree.open(new TileTable(db), leafReader(db), head)
 * tree.append(leafHash(text)); tree.inclusionProof(0, tree.size)
 */
export class MerkleTree {
  #size = 0
  #edge: GrowingTile[] = []
  /**
   * By tree size: the hash of the leaves from each complete subtree on the right edge to the end of the tree, by the first of these leaves.
   */
  readonly #suffixes = new LRUCache<number, ReadonlyMap<number, Buffer>>({ max: 16 })

  private constructor(private readonly store: TileStore) {}

  /** The tree over the first `size` events, whose complete tiles are stored. */
  static open(store: TileStore, leaves: LeafReader, size: number): MerkleTree {
    const tree = new MerkleTree(store)
    tree.reset(leaves, size)
    return tree
  }

  get size(): number {
    return this.#size
  }

  /** Returns to a size that the store and the events have: the right edge is read again. */
  reset(leaves: LeafReader, size: number): void {
    this.#edge = []
    this.#size = size
    this.#suffixes.clear()
    for (let level = 0, complete = size; complete > 0; level++, complete = Math.floor(complete / tileWidth)) {
      const begin = complete - (complete % tileWidth)
      const tile = new GrowingTile()
      if (level === 0) for (const leaf of leaves(begin, complete - begin)) tile.push(leaf)
      else for (let below = begin; below < complete; below++) tile.push(rootOf(this.store.get(level - 1, below)))
      this.#edge.push(tile)
    }
  }

  /** Adds an event, and stores what becomes complete. */
  append(leaf: Uint8Array): void {
    let hash = leaf
    for (let level = 0, index = this.#size; ; level++) {
      const tile = (this.#edge[level] ??= new GrowingTile())
      tile.push(hash)
      if (!tile.isComplete) break
      index = Math.floor(index / tileWidth)
      this.store.put(level, index, tile.nodes)
      this.#edge[level] = new GrowingTile()
      hash = rootOf(tile.nodes)
    }
    this.#size++
  }

  /** The root over the first `size` events. */
  rootAt(size: number): Buffer {
    return size === 0 ? emptyRoot : this.#range(0, size, size)
  }

  /** The hash of the leaf `index`. */
  leaf(index: number): Buffer {
    return this.#complete(0, index)
  }

  /** The hashes of the leaves from `from` to `to`, without `to`. */
  leaves(from: number, to: number): Buffer[] {
    return Array.from({ length: to - from }, (_, i) => this.leaf(from + i))
  }

  /** RFC 9162 PATH: the hashes from the leaf's sibling up to the root's child. */
  inclusionProof(index: number, size: number): Buffer[] {
    const path: Buffer[] = []
    for (let from = 0, to = size; to - from > 1;) {
      const middle = from + splitOf(to - from)
      if (index < middle) path.push(this.#range(middle, to, size))
      else path.push(this.#range(from, middle, size))
      if (index < middle) to = middle
      else from = middle
    }
    return path.reverse()
  }

  /** RFC 9162 PROOF that the tree of `size` begins with the one of `old`. Empty when both are equal or the old one is empty. */
  consistencyProof(old: number, size: number): Buffer[] {
    if (old === 0 || old === size) return []
    const proof: Buffer[] = []
    let from = 0
    let to = size
    while (to !== old) {
      const middle = from + splitOf(to - from)
      if (old <= middle) proof.push(this.#range(middle, to, size))
      else proof.push(this.#range(from, middle, size))
      if (old <= middle) to = middle
      else from = middle
    }
    // The client knows the old root.
    if (from > 0) proof.push(this.#range(from, to, size))
    return proof.reverse()
  }

  /** The hashes of the fewest complete subtrees that together cover the leaves from `from` to `to`, without `to`. */
  subtrees(from: number, to: number): Buffer[] {
    const hashes: Buffer[] = []
    while (from < to) {
      let width = 1
      while (from % (width * 2) === 0 && from + width * 2 <= to) width *= 2
      hashes.push(this.#complete(levelOf(width), from / width))
      from += width
    }
    return hashes
  }

  /** The hash of the leaves from `from` to `to`, without `to`: a complete subtree, or the end of a tree of this size. */
  #range(from: number, to: number, size: number): Buffer {
    const level = levelOf(to - from)
    if (2 ** level === to - from) return this.#complete(level, from / (to - from))
    const hash = this.#suffixesOf(size).get(from)
    if (!hash) throw new RangeError(`no subtree of ${size} leaves begins at ${from} and ends at ${to}`)
    return hash
  }

  #suffixesOf(size: number): ReadonlyMap<number, Buffer> {
    const held = this.#suffixes.get(size)
    if (held) return held
    const suffixes = new Map<number, Buffer>()
    let begin = size
    let right: Buffer | undefined
    for (const peak of peaksOf(size).reverse()) {
      begin -= peak
      const left = this.#complete(levelOf(peak), begin / peak)
      right = right ? nodeHash(left, right) : left
      suffixes.set(begin, right)
    }
    this.#suffixes.set(size, suffixes)
    return suffixes
  }

  /** The root of the complete subtree of 2^level leaves with number `index` on its level. */
  #complete(level: number, index: number): Buffer {
    const tileLevel = Math.floor(level / tileLevels)
    const inner = level % tileLevels
    const across = 2 ** (tileLevels - inner)
    const tile = Math.floor(index / across)
    const complete = Math.floor(this.#size / tileWidth ** (tileLevel + 1))
    const nodes = tile < complete ? this.store.get(tileLevel, tile) : this.#edge[tileLevel]?.nodes
    if (!nodes) throw new RangeError(`the tree of ${this.#size} leaves has no subtree ${index} on level ${level}`)
    return hashIn(nodes, inner, index % across)
  }
}
