import { ConfigError } from '../../setup/config.js'
import { lastPosition, type LogConnection } from '../storage/schema.js'
import { MerkleTree } from './merkle-tree.js'
import { hasTree, leafReader, levelIds, tileWidth, TileOverlay, TileTable, type LeafReader } from './tiles.js'

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
