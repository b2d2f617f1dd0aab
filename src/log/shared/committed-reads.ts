import type { Vault } from '../../vault/vault.js'
import { CheckedProofs } from '../proof/checked-proofs.js'
import { MerkleTree, tileWidth, type TileStore } from '../proof/merkle-tree.js'
import { leafReader, TileTable } from '../proof/stored-tree.js'
import { KeptReplies } from '../sqlite/kept-replies.js'
import type { Reads } from '../sqlite/write-queue.js'
import { EventReads, type Tail } from '../storage/events.js'
import { prepareIsKeyLost } from '../storage/keys.js'
import { payloadReader, payloadStates } from '../storage/payloads.js'
import { ResourceTable } from '../storage/resource-table.js'
import { openForReading, prepareErasedAt, type LogConnection } from '../storage/schema.js'
import { lacksKey } from './problems.js'

/** The tiles that the writer stored. A tile that becomes complete here is stored already. */
const storedTiles = (db: LogConnection): TileStore => {
  const table = new TileTable(db)
  return { get: (level, tile) => table.get(level, tile), put: () => undefined }
}

/**
 * The state for readers while a batch waits for PostgreSQL: the last commit, through a separate connection. So a signed head only ever
 * covers events that PostgreSQL has accepted.
 */
export class CommittedReads implements Reads {
  readonly db: LogConnection
  readonly resources: ResourceTable
  readonly answers: KeptReplies
  readonly events: EventReads
  readonly payload: Reads['payload']
  readonly payloadState: Reads['payloadState']
  readonly erasedAt: Reads['erasedAt']
  readonly #leaves
  readonly #tree: MerkleTree
  readonly #proofs: CheckedProofs
  #tail: Tail

  constructor(file: string, vault: Vault, tail: Tail) {
    this.db = openForReading(file)
    this.resources = new ResourceTable(this.db)
    this.answers = new KeptReplies(this.db, vault)
    this.events = new EventReads(this.db)
    const isLost = prepareIsKeyLost(this.db)
    this.payload = payloadReader(this.db, {
      open: (stored) => {
        if (stored.wrapped !== null && !vault.knows(stored.keyId) && !isLost(stored)) throw lacksKey(stored.keyId)
        return vault.open(stored)
      },
    })
    this.payloadState = payloadStates(this.db)
    this.erasedAt = prepareErasedAt(this.db)
    this.#leaves = leafReader(this.db)
    this.#tail = tail
    this.#tree = MerkleTree.open(storedTiles(this.db), this.#leaves, tail.position)
    this.#proofs = new CheckedProofs(this.#tree)
  }

  get tail(): Tail {
    return this.#tail
  }

  /** Proofs over the committed events. The tree catches up on demand. */
  get proofs(): CheckedProofs {
    const { position } = this.#tail
    const missing = position - this.#tree.size
    if (missing > tileWidth) this.#tree.reset(this.#leaves, position)
    else if (missing > 0) for (const leaf of this.#leaves(this.#tree.size, missing)) this.#tree.append(leaf)
    return this.#proofs
  }

  /** A commit moved the end of the log, and changed these streams. */
  advance(tail: Tail, changed: Iterable<string>): void {
    this.#tail = tail
    this.resources.forget(changed)
  }

  close(): void {
    this.db.close()
  }
}
