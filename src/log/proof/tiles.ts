import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { leafHash, sha256 } from '../../../events/stored/chain.js'
import { ConfigError } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import type { LogConnection } from '../storage/schema.js'

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

/** Where complete tiles are stored. Level 0 is over the events, each other level over the roots of the level below. */
export type TileStore = {
  get(level: number, tile: number): Buffer
  put(level: number, tile: number, nodes: Buffer): void
}

/** Whether this file has a tree: a log of an older release gets one when it is next opened for writing. */
export const hasTree = (db: LogConnection): boolean => db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'tree'`).get() !== undefined

/** Each level has its own range of tile ids, larger than the number of events in any log. */
export const levelIds = 2 ** 40
/** The id of a tile in its table. Levels and tiles count from 0, and level 0 has the leaves. */
export const tileId = (level: number, tile: number): number => level * levelIds + tile

/** A tile that should be there is missing: something other than a log changed the file. */
const missingTile = (level: number, tile: number) =>
  new ConfigError(`the log's tree lacks tile ${tile} of level ${level}; "mindledger rebuild" builds it anew from the events`)

/** The table `tree`, one row per complete tile. Recently read tiles stay in memory, such as the upper ones that most proofs need. */
export class TileTable implements TileStore {
  readonly #held = new LRUCache<number, Buffer>({ max: limits.treeCacheMaxTiles })
  readonly #get
  readonly #put

  constructor(db: LogConnection) {
    this.#get = db.prepare<[number], Buffer>('SELECT nodes FROM tree WHERE id = ?').pluck()
    this.#put = db.prepare<[number, Buffer]>('INSERT OR REPLACE INTO tree VALUES (?, ?)')
  }

  get(level: number, tile: number): Buffer {
    const id = tileId(level, tile)
    const held = this.#held.get(id)
    if (held) return held
    const nodes = this.#get.get(id)
    if (!nodes) throw missingTile(level, tile)
    this.#held.set(id, nodes)
    return nodes
  }

  put(level: number, tile: number, nodes: Buffer): void {
    const id = tileId(level, tile)
    // A transaction that was rolled back may have stored another tile here.
    this.#held.delete(id)
    this.#put.run(id, nodes)
  }
}

/** Tiles that a reader of the file computes itself, in addition to the stored ones. */
export class TileOverlay implements TileStore {
  readonly #made = new Map<number, Buffer>()

  constructor(private readonly stored: TileStore | undefined) {}

  get(level: number, tile: number): Buffer {
    const nodes = this.#made.get(tileId(level, tile)) ?? this.stored?.get(level, tile)
    if (!nodes) throw missingTile(level, tile)
    return nodes
  }

  put(level: number, tile: number, nodes: Buffer): void {
    this.#made.set(tileId(level, tile), nodes)
  }
}

/** The leaf hashes of events after a position. */
export type LeafReader = (after: number, limit: number) => Buffer[]

/**
 * Reads the texts of events from a log's file and hashes them, one text at a time in memory.
 *
 * @example leafReader(db)(0, 256) // the leaf hashes of positions 1 to 256
 */
export const leafReader = (db: LogConnection): LeafReader => {
  const texts = db.prepare<[number, number], string>('SELECT text FROM events WHERE position > ? ORDER BY position LIMIT ?').pluck()
  // One text at a time: events may be large.
  return (after, limit) => Array.from(texts.iterate(after, limit), leafHash)
}
