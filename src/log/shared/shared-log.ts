/**
 * Room: a log that nodes share: PostgreSQL orders the events, and each node has a copy in a file. It imports only basics, setup, vault and
 * log.
 */

import { v4 as uuidv4 } from 'uuid'
import type { Refusal } from '../../basics/opened-file.js'
import { opened } from '../../basics/undo.js'
import { ConfigError } from '../../setup/config.js'
import type { Vault } from '../../vault/vault.js'
import type { Batch, Outcome, Reply, RequestKey, Submission } from '../contract/log.js'
import { FileLog } from '../sqlite/file-log.js'
import { UnknownEventError } from '../sqlite/blocking-event-error.js'
import { openKeys } from '../storage/keys.js'
import { truncateWal } from '../storage/wal-file.js'
import type { Peers, Talk } from '../contract/peers.js'
import { HeadPoll } from './head-poll.js'
import { SharedKeyHolders } from './key-holders.js'
import { SharedLeases } from './leases.js'
import { Nodes } from './nodes.js'
import { ownLogIn, Replica } from './replica.js'
import { Sequencer } from './sequencer.js'
import { ServerClock } from './server-clock.js'
import { refusalToOpen } from './refusal-to-open.js'
import { Link, SharedLogSession } from './postgres/shared-log-session.js'
import { SharedWriteQueue } from './shared-write-queue.js'
import { SharedWipes } from './wipes.js'
import { areThere, openTables, readLogId, talkChannel } from './postgres/tables.js'

export type SharedLogOptions = {
  /** The address of PostgreSQL: `postgres://user:password@host/database`. */
  url: string
  /** The file of this node. */
  file: string
  vault: Vault
  /** This node: its lasting id, and the release that it runs. */
  node?: { id: string; version: string }
  pragmas?: readonly string[]
  onBatch?: (batch: Batch) => void
  /** How long writes wait behind a batch that PostgreSQL does not answer; `sharedWritePatienceMs` by default. */
  writePatienceMs?: number
}

type Parts = {
  id: string
  queue: SharedWriteQueue
  vault: Vault
  clock: ServerClock
  nodes: Nodes
  link: Link
  leases: SharedLeases
  wipes: SharedWipes
  talk: Talk
  stop: () => Promise<void>
}

const replaced: Refusal = {
  cause: 'another process serves with the id of this node',
  hint: 'Was its data directory copied? Delete node.id in the copy, and start both again.',
}

/** Messages between nodes. A sender does not wait for the receivers. */
const talkOver = (link: Link, sequencer: Sequencer): Talk => {
  const listeners = new Set<(text: string) => void>()
  sequencer.onSaid = (text) => {
    for (const listener of listeners) listener(text)
  }
  return {
    say: (text) =>
      void link
        .session()
        .then((session) => session.query('SELECT pg_notify($1, $2)', [talkChannel, text]))
        .catch(() => undefined),
    onHeard: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The id of the log. Begins a log if there is none, unless the file has a log of its own. */
const openId = async (url: string, file: string): Promise<string> => {
  const own = ownLogIn(file)
  const session = await SharedLogSession.open(url)
  try {
    if (own !== undefined && (!(await areThere(session)) || (await readLogId(session)) !== own))
      throw new ConfigError(
        'the data directory has a log of its own, which is not the one that nodes share: set DATA_DIR to an empty directory',
      )
    return await openTables(session, uuidv4)
  } finally {
    await session.close()
  }
}

/**
 * A log that several nodes write. PostgreSQL decides the order of batches; each node decides, folds, hashes and reads on a file of its
 * own, which follows PostgreSQL.
 *
 * @example
 * const log = await SharedLog.open({ url: 'postgres://db/ledger', file: 'log.sqlite', vault })
 * await log.newest() // from here on reads see all that any node acknowledged before
 */
export class SharedLog extends FileLog {
  /** All nodes of this log. */
  readonly nodes: Nodes
  /** A connection for statements that must not wait for batches of this node or of others. */
  readonly link: Link
  /** The agreements of this node with the others. */
  readonly peers: Peers & { leases: SharedLeases }
  readonly #queue: SharedWriteQueue
  readonly #clock: ServerClock
  readonly #stop: () => Promise<void>

  private constructor({ id, queue, vault, clock, nodes, link, leases, wipes, talk, stop }: Parts) {
    super(id, queue, vault)
    this.nodes = nodes
    this.link = link
    this.peers = { leases, wipes, keys: new SharedKeyHolders({ way: link, nodes }), talk }
    this.#queue = queue
    this.#clock = clock
    this.#stop = stop
  }

  /** @throws ConfigError when PostgreSQL cannot be reached or has another log, or the file is not a replica of it */
  static async open(options: SharedLogOptions): Promise<SharedLog> {
    const { url, file, vault, node = { id: uuidv4(), version: '' }, pragmas, onBatch, writePatienceMs } = options
    const parts = await opened(async (undo) => {
      const id = await openId(url, file)
      const clock = new ServerClock()
      const sequencer = new Sequencer(url, clock)
      undo(() => sequencer.close())
      // Times need the clock before the first batch.
      await sequencer.look()
      const replica = new Replica({ file, logId: id, vault, pragmas, now: () => clock.now() })
      const newerRelease = () => nodes.newerRelease()
      const queue = new SharedWriteQueue({ replica, sequencer, onBatch, patienceMs: writePatienceMs, newerRelease })
      undo(() => queue.close())
      const link = new Link(url, (session) => wipes.noteAgain(session))
      undo(() => link.close())
      const unwritable = () => queue.health().unwritable
      const nodes: Nodes = new Nodes({ link, ...node, run: uuidv4(), place: () => queue.place, unwritable })
      const wipes: SharedWipes = new SharedWipes({ way: link, nodes, chainAt: (position) => replica.chainAt(position) })
      nodes.onReplaced = () => queue.refuseWrites(replaced)
      undo(() => nodes.stop())
      await nodes.begin()
      sequencer.onNotified = (seq) => queue.hear(seq)
      await queue.start().catch(async (error: unknown) => {
        if (error instanceof UnknownEventError) error.release = await newerRelease().catch(() => undefined)
        throw error
      })
      await queue.inTurn(({ db }) => openKeys(db, vault))
      // Wipes erased data that a crash left. It does not wait for a reader that is in the way.
      await queue.between(truncateWal)
      const poll = new HeadPoll(queue)
      undo(() => poll.stop())
      const mayWrite = () => queue.refusal === undefined
      const canWrite = () => !queue.isFileFailing
      const leases = new SharedLeases({ way: link, node: nodes.run, newest: () => queue.newest(), mayWrite, canWrite })
      undo(() => leases.close())
      return { id, queue, vault, clock, nodes, link, leases, wipes, talk: talkOver(link, sequencer) }
    }).catch((error: unknown) => {
      throw refusalToOpen(error, url)
    })
    return new SharedLog(parts)
  }

  /**
   * Resolves when reads here see all that any node acknowledged before the call.
   * @throws Problem 503 when that takes too long
   */
  override newest(): Promise<void> {
    return this.#queue.newest()
  }

  override sinceHalt(): Promise<void> | undefined {
    return this.#queue.sinceHalt()
  }

  override async submitLater(make: () => Submission): Promise<Outcome> {
    const outcome = await super.submitLater(make)
    if (outcome.repeated) return this.#confirmed(outcome)
    // What there was to do is done already. It was decided on the newest state, which the standby may lack.
    if (outcome.positions.length === 0 && !outcome.planned) await this.#queue.replicated()
    return outcome
  }

  override async keepReply(keyed: RequestKey, reply: Reply, erasedAt: number): Promise<Reply> {
    const kept = await super.keepReply(keyed, reply, erasedAt)
    return kept === reply ? kept : this.#confirmed(kept)
  }

  override async replyTo(keyed: RequestKey): Promise<Reply | undefined> {
    return this.#confirmed(await super.replyTo(keyed))
  }

  override async repeated(keyed: RequestKey): Promise<Outcome | undefined> {
    return this.#confirmed(await super.repeated(keyed))
  }

  /**
   * An answer that was kept before acknowledges the first request again. The node that got that request may have learnt that the standby
   * lacks it.
   */
  async #confirmed<T>(kept: T): Promise<T> {
    if (kept !== undefined) await this.#queue.confirm()
    return kept
  }

  override now(): number {
    return this.#clock.now()
  }

  override close(): Promise<void> {
    this.#queue.endIntake()
    return this.#stop()
  }
}
