import { errorText } from '../../basics/errors.js'
import { lastPosition, type LogConnection } from '../storage/schema.js'
import { MerkleTree } from './merkle-tree.js'
import { hasTree, tileId, tileWidth } from './tiles.js'

/** Reports what is wrong. `position` is that of the first event concerned, or null. */
export type Report = (position: number | null, what: string) => void

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
