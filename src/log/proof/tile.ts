import { hash } from 'node:crypto'
import { sha256 } from '../../../events/stored/chain.js'

/** The bytes of one hash. */
export const hashBytes = 32

/** A tile is six levels of the tree: up to 64 hashes, and those above them. */
export const tileLevels = 6
export const tileWidth = 64

/** Where each level of a tile begins, counted in hashes: there are 64, 32, 16, 8, 4 and 2. The root is in the tile above. */
const offsets = [0, 64, 96, 112, 120, 124] as const
const storedHashes = 126

/** The size of a complete tile as it is stored. */
const tileBytes = storedHashes * hashBytes

const scratch = Buffer.alloc(1 + 2 * hashBytes, 1)

/** RFC 9162: the hash of an inner node, `sha256(0x01 ‖ left ‖ right)`. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => {
  scratch.set(left, 1)
  scratch.set(right, 1 + hashBytes)
  return sha256(scratch)
}

const at = (nodes: Buffer, place: number): Buffer => nodes.subarray(place * hashBytes, (place + 1) * hashBytes)

const putPair = (nodes: Buffer, place: number): void => void nodes.copy(scratch, 1, place * hashBytes, (place + 2) * hashBytes)

/** Hash number `index` of a level of the tile; level 0 is the lowest. */
export const hashIn = (nodes: Buffer, level: number, index: number): Buffer => at(nodes, (offsets[level] ?? 0) + index)

/** The root of a complete tile. */
export const rootOf = (nodes: Buffer): Buffer => {
  putPair(nodes, storedHashes - 2)
  return sha256(scratch)
}

/** A growing tile: each new hash also adds those above it that become complete. */
export class GrowingTile {
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
