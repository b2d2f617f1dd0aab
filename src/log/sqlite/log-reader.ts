import { erasureKindsInTables } from '../../../events/records/log.js'
import { MissingKeyError } from '../../../projections/problem.js'
import { findMasterKeys } from '../../vault/key-files.js'
import { KeyRing, type StoredPayload } from '../../vault/vault.js'
import { checkDataDirectory, type DataPaths } from '../../setup/data-directory.js'
import type { StoredEvent } from '../contract/log.js'
import { prepareIsKeyLost, readPreviousKey } from '../storage/keys.js'
import { payloadReader } from '../storage/payloads.js'
import { EventReads } from '../storage/events.js'
import { openForReading, prepareErasedAt, readHeadKeys, readLogId, type LogConnection } from '../storage/schema.js'
import { openWalIn } from '../storage/wal-file.js'
import { readTree } from '../proof/stored-tree.js'
import { CheckedProofs } from '../proof/checked-proofs.js'

/** The log for another process, whether a server runs or not. */
export type LogReader = {
  id: string
  head(): number
  /**
   * Resolves when the disk has everything that was read before the call. A caller that stores, signs or sends what it read must wait for
   * this, because a loss of power could remove it from the log, and from nowhere else.
   * @throws the error of the system; after a first failure, each later call throws as well
   */
  confirm(): Promise<void>
  /** Events after a position, in order: at most `limit`, and fewer if their texts reach `maxChars` characters. */
  read(after: number, limit: number, maxChars?: number): StoredEvent[]
  /** The first event of a stream. */
  first(stream: string): StoredEvent | undefined
  /** The tree over the current events. */
  proofs(): CheckedProofs
  /** The verifier keys that signed its heads, the newest first. */
  headKeys(): string[]
  payload(hash: string): Buffer | undefined
  /** Opens payloads with these master keys from now on. */
  useKeys(keys: readonly Buffer[]): void
  /** The position of the last erasure of rows that were in the tables; 0 when there was none. */
  erasedAt(): number
  close(): void
}

/** The master keys of a reader. They may change while it runs. */
class ReaderKeys {
  readonly #ring: KeyRing
  /** Ids of keys that were not found. */
  readonly #missing = new Set<string>()
  readonly #isLost

  constructor(
    private readonly db: LogConnection,
    private readonly paths: DataPaths,
    private given: readonly Buffer[],
    private readonly needsKeys: boolean,
  ) {
    this.#ring = new KeyRing(findMasterKeys(paths, given))
    this.#isLost = prepareIsKeyLost(db)
  }

  use(keys: readonly Buffer[]): void {
    this.given = keys
    this.#ring.replace(keys)
    this.#missing.clear()
  }

  /** An unknown key may be new, or it may be the previous key, which the log keeps until its rotation ends. */
  open(payload: StoredPayload): Buffer | undefined {
    if (payload.wrapped !== null && !this.#ring.get(payload.keyId)) this.#look(payload.keyId)
    const isMissing = payload.wrapped !== null && !this.#ring.get(payload.keyId)
    if (isMissing && this.needsKeys && !this.#isLost(payload)) throw new MissingKeyError(payload.keyId)
    return this.#ring.open(payload)
  }

  #look(keyId: string): void {
    if (this.#missing.has(keyId)) return
    this.#ring.add(...findMasterKeys(this.paths, this.given))
    const previous = readPreviousKey(this.db, ({ keyId, wrapped }, bound) => this.#ring.get(keyId)?.unwrap(wrapped, bound))
    if (previous) this.#ring.add(previous)
    if (!this.#ring.get(keyId)) this.#missing.add(keyId)
  }
}

/**
 * Opens the log of a data directory for reading, with the given master keys or those in its files. Without the key of a payload, all other
 * data can still be read. Such a payload is undefined, like an erased one. With `needsKeys`, reading it throws a MissingKeyError, unless no
 * process can read the payload any more.
 *
 * @throws ConfigError when there is no log
 * @example const reader = openLogReader('./data'); reader.read(0, 10); reader.close()
 */
export const openLogReader = (dataDirectory: string, masterKeys: readonly Buffer[] = [], needsKeys = false): LogReader => {
  const paths = checkDataDirectory(dataDirectory)
  const db = openForReading(paths.log)
  const keys = new ReaderKeys(db, paths, masterKeys, needsKeys)
  const head = db.prepare<[], number | null>('SELECT max(position) FROM events').pluck()
  const events = new EventReads(db)
  const wal = openWalIn(paths.log)
  let fault: Error | undefined
  return {
    id: readLogId(db),
    head: () => head.get() ?? 0,
    confirm: async () => {
      if (fault) throw fault
      await wal?.sync().catch((error: unknown) => {
        throw (fault = error instanceof Error ? error : new Error(String(error)))
      })
    },
    read: (after, limit, maxChars) => events.all(after, limit, maxChars),
    first: (stream) => events.stream(stream, 0, 1)[0],
    // One transaction, so that the events and the tiles show the same state.
    proofs: db.transaction(() => new CheckedProofs(readTree(db, head.get() ?? 0))),
    payload: payloadReader(db, keys),
    useKeys: (given) => keys.use(given),
    headKeys: () => readHeadKeys(db),
    erasedAt: prepareErasedAt(db, erasureKindsInTables),
    close: () => {
      wal?.close()
      db.close()
    },
  }
}
