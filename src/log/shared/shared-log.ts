import { v4 as uuidv4 } from 'uuid'
import { undoAll } from '../../basics/undo.js'
import { ConfigError } from '../../setup/config.js'
import type { Vault } from '../../vault/vault.js'
import type { Batch } from '../contract/log.js'
import { FileLog } from '../sqlite/file-log.js'
import { openKeys } from '../storage/keys.js'
import { truncateWal } from '../storage/wipe.js'
import { Follower } from './follower.js'
import { Replica } from './replica.js'
import { Forked, Sequencer } from './sequencer.js'
import { ServerClock } from './server-clock.js'
import { Session, Unreachable } from './session.js'
import { SharedTurns } from './shared-turns.js'
import { openTables } from './tables.js'

export type SharedLogOptions = {
  /** The address of PostgreSQL: `postgres://user:password@host/database`. */
  url: string
  /** The file of this node. */
  file: string
  vault: Vault
  pragmas?: readonly string[]
  onBatch?: (batch: Batch) => void
}

const openId = async (url: string): Promise<string> => {
  const session = await Session.open(url)
  try {
    return await openTables(session, uuidv4)
  } finally {
    await session.close()
  }
}

/**
 * A log that several nodes write. PostgreSQL decides the order of batches; each node decides, folds, hashes and reads on a file of its
 * own, which follows.
 *
 * @example
 * const log = await SharedLog.open({ url: 'postgres://db/ledger', file: 'log.sqlite', vault })
 * await log.newest() // from here on reads see all that any node acknowledged before
 */
export class SharedLog extends FileLog {
  readonly #turns: SharedTurns
  readonly #undo: (() => unknown)[]
  readonly #clock: ServerClock
  #closing: Promise<void> | undefined

  private constructor(id: string, turns: SharedTurns, vault: Vault, clock: ServerClock, undo: (() => unknown)[]) {
    super(id, turns, vault)
    this.#turns = turns
    this.#clock = clock
    this.#undo = undo
  }

  /** @throws ConfigError when PostgreSQL cannot be reached or has another log, or the file is not a replica of it */
  static async open({ url, file, vault, pragmas, onBatch }: SharedLogOptions): Promise<SharedLog> {
    const undo: (() => unknown)[] = []
    try {
      const id = await openId(url)
      const clock = new ServerClock()
      const sequencer = new Sequencer(url, clock)
      undo.push(() => sequencer.close())
      // Times need the clock before the first batch.
      await sequencer.look()
      const replica = new Replica({ file, logId: id, vault, pragmas, now: () => clock.now() })
      const turns = new SharedTurns({ replica, sequencer, onBatch })
      undo.push(() => turns.close())
      sequencer.onNotified = (seq) => turns.hear(seq)
      await turns.start()
      await turns.inTurn(({ db }) => openKeys(db, vault))
      // Wipes what a crash kept from being wiped. It does not wait for a reader that is in the way.
      await turns.between(truncateWal)
      const follower = new Follower(turns)
      undo.push(() => follower.stop())
      return new SharedLog(id, turns, vault, clock, undo)
    } catch (error) {
      await undoAll(undo)
      if (error instanceof Unreachable) throw new ConfigError(`the shared log cannot be reached: ${error.message}`)
      if (error instanceof Forked || error instanceof RangeError)
        throw new ConfigError(`${error.message}: the data directory has events that it lacks. Keep it, and name an empty one to follow.`)
      throw error
    }
  }

  /**
   * Resolves when reads here see all that any node acknowledged before the call.
   * @throws Problem 503 when that takes too long
   */
  newest(): Promise<void> {
    return this.#turns.newest()
  }

  /** How many batches this node is behind the newest it heard of. */
  get lag(): number {
    return this.#turns.lag
  }

  /** PostgreSQL's time, in milliseconds since 1970. */
  now(): number {
    return this.#clock.now()
  }

  override close(): Promise<void> {
    this.#turns.endIntake()
    return (this.#closing ??= undoAll(this.#undo))
  }
}
