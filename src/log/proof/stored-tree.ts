import { LRUCache } from 'lru-cache'
import { leafHash } from '../../../events/stored/chain.js'
import { errorText } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { ConfigError } from '../../setup/config.js'
import { lastPosition, type LogConnection } from '../storage/schema.js'
import { MerkleTree, tileWidth, type LeafReader, type TileStore } from './merkle-tree.js'

/** Whether this file has a tree: a log of an older release gets one when it is next opened for writing. */
const hasTree = (db: LogConnection): boolean => db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'tree'`).get() !== undefined

/** Each level has its own range of tile ids, larger than the number of events in any log. */
const levelIds = 2 ** 40
/** The id of a tile in its table. Levels and tiles count from 0, and level 0 has the leaves. */
const tileId = (level: number, tile: number): number => level * levelIds + tile

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

/** How many events share a transaction when a long log gets its tree: the WAL stays small, and a crash loses little. */
const sliceEvents = 65_536

/** The number of events under complete tiles. */
const storedEvents = (db: LogConnection): number => {
  const last = db.prepare<[number], number | null>('SELECT max(id) FROM tree WHERE id < ?').pluck().get(levelIds)
  return last === null || last === undefined ? 0 : (last + 1) * tileWidth
}

const grow = (tree: MerkleTree, leaves: LeafReader, to: number): void => {
  const added = leaves(tree.size, to - tree.size)
  if (tree.size + added.length !== to) throw new ConfigError('the log is broken: events are missing. Run "mindledger verify".')
  for (const leaf of added) tree.append(leaf)
}

/**
 * The tree of a log's file that is open for writing, over its events up to `head`. Missing tiles, as in a log of an older release,
 * are built: a million events take seconds.
 *
 * @throws ConfigError when the tree has more events than the log
 */
export const openTree = (db: LogConnection, head: number): MerkleTree => {
  const leaves = leafReader(db)
  const stored = storedEvents(db)
  if (stored > head)
    throw new ConfigError(
      `the log is broken: its tree has ${stored} events, and it ends at position ${head}. Run "mindledger verify"; a backup brings back what is missing.`,
    )
  const isBuilt = head - stored < tileWidth
  const tree = MerkleTree.open(new TileTable(db), leaves, isBuilt ? head : stored)
  while (tree.size < head) db.transaction(() => grow(tree, leaves, Math.min(tree.size + sliceEvents, head)))()
  return tree
}

/** Rebuilds the stored tree from the events. Returns their number. */
export const rebuildTree = (db: LogConnection): number => {
  db.exec('DELETE FROM tree')
  return openTree(db, lastPosition(db)).size
}

/** The tree of a log's file that is open for reading, with or without a server; missing tiles are computed in memory. */
export const readTree = (db: LogConnection, head: number): MerkleTree => {
  const leaves = leafReader(db)
  const has = hasTree(db)
  const stored = has ? Math.min(storedEvents(db), head - (head % tileWidth)) : 0
  const tree = MerkleTree.open(new TileOverlay(has ? new TileTable(db) : undefined), leaves, stored)
  while (tree.size < head) grow(tree, leaves, Math.min(tree.size + sliceEvents, head))
  return tree
}

/** Reports what is wrong. `position` is that of the first event concerned, or null. */
type Report = (position: number | null, what: string) => void

/** The number of complete tiles of a tree over this number of events, on all levels. */
const tilesOver = (events: number): number => {
  let tiles = 0
  for (let complete = Math.floor(events / tileWidth); complete > 0; complete = Math.floor(complete / tileWidth)) tiles += complete
  return tiles
}

const firstPosition = (level: number, tile: number): number => tile * tileWidth ** (level + 1) + 1

/**
 * Computes the tree from the leaf hashes of all events, in order, and compares the stored tiles with it: one read per tile, in
 * constant memory. A log of an older release has no stored tree, which is not an error.
 *
 * @example
 * const check = new TreeCheck(db, (position, what) => findings.add(position, what))
 * for (const text of texts) check.step(leafHash(text))
 * check.finish()
 */
export class TreeCheck {
  readonly #tree: MerkleTree
  readonly #db: LogConnection
  readonly #report: Report
  #compares: boolean

  constructor(db: LogConnection, report: Report) {
    this.#db = db
    this.#report = report
    this.#compares = hasTree(db)
    const stored = this.#compares ? db.prepare<[number], Buffer>('SELECT nodes FROM tree WHERE id = ?').pluck() : undefined
    const put = (level: number, tile: number, nodes: Buffer): void => {
      if (!this.#compares) return
      this.#try(firstPosition(level, tile), () => {
        const found = stored?.get(tileId(level, tile))
        if (!found) this.#differ(firstPosition(level, tile), 'the stored tree lacks these events')
        else if (!nodes.equals(found)) this.#differ(firstPosition(level, tile), 'the stored tree does not match these events')
      })
    }
    const never = () => {
      throw new TypeError('a tree that is checked is read at its edge only')
    }
    this.#tree = MerkleTree.open({ get: never, put }, () => [], 0)
  }

  /** The next event's leaf hash. */
  step(leaf: Uint8Array): void {
    this.#tree.append(leaf)
  }

  get size(): number {
    return this.#tree.size
  }

  /** The root over the events so far. */
  root(): Buffer {
    return this.#tree.rootAt(this.#tree.size)
  }

  /** After the last event: looks for tiles beyond those of the events. The file may have more events than were walked, and their tiles. */
  finish(): void {
    if (!this.#compares) return
    this.#try(null, () => {
      const rows = this.#db.prepare<[], number>('SELECT count(*) FROM tree').pluck().get() ?? 0
      const given = tilesOver(Math.max(this.size, lastPosition(this.#db)))
      if (rows > given) this.#differ(null, `the stored tree has ${rows - given} tiles that belong to no event`)
    })
  }

  /** One finding is enough: the next start of a server does not repair the tree, and the root says what it must be. */
  #differ(position: number | null, what: string): void {
    this.#compares = false
    this.#report(position, what)
  }

  #try(position: number | null, compare: () => void): void {
    try {
      compare()
    } catch (error) {
      this.#differ(position, `the stored tree cannot be read: ${errorText(error)}`)
    }
  }
}
