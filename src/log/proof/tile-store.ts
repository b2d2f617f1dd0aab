import { LRUCache } from 'lru-cache'
import { leafHash } from '../../../events/stored/chain.js'
import { ConfigError } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import type { Connection } from '../storage/schema.js'

/** Where complete tiles are stored. Level 0 is over the events, each other level over the roots of the level below. */
export type TileStore = {
  get(level: number, tile: number): Buffer
  put(level: number, tile: number, nodes: Buffer): void
}

/** Whether this file has a tree: a log of an older release gets one when it is next opened for writing. */
export const hasTree = (db: Connection): boolean => db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'tree'`).get() !== undefined

/** Each level has its own range of tile ids, larger than the number of events in any log. */
export const levelIds = 2 ** 40
export const tileId = (level: number, tile: number): number => level * levelIds + tile

/** A tile that should be there is missing: something other than a log changed the file. */
const missingTile = (level: number, tile: number) =>
  new ConfigError(`the log's tree lacks tile ${tile} of level ${level}; "mindledger rebuild" builds it anew from the events`)

/** The table `tree`, one row per complete tile. Recently read tiles stay in memory, such as the upper ones that most proofs need. */
export class TileTable implements TileStore {
  readonly #held = new LRUCache<number, Buffer>({ max: limits.treeCacheMaxTiles })
  readonly #get
  readonly #put

  constructor(db: Connection) {
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
    this.#put.run(tileId(level, tile), nodes)
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

export const leafReader = (db: Connection): LeafReader => {
  const texts = db.prepare<[number, number], string>('SELECT text FROM events WHERE position > ? ORDER BY position LIMIT ?').pluck()
  // One text at a time: events may be large.
  return (after, limit) => Array.from(texts.iterate(after, limit), leafHash)
}
