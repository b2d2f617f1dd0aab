import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { limits } from '../../basics/limits.js'
import { inTurns, LoopTurns } from '../../basics/long-work.js'
import { OpenedFile, type Refusal } from '../../basics/opened-file.js'
import { writesRefused } from '../../basics/storage-error.js'
import { ConfigError } from '../../setup/config.js'
import type { Vault } from '../../vault/vault.js'
import type { ChangedStreams, WrittenEvent } from '../contract/log.js'
import { LogWriter } from '../sqlite/log-writer.js'
import { ensureResources } from '../sqlite/rebuild.js'
import type { Reads, WriteTransaction } from '../sqlite/write-queue.js'
import {
  lastPosition,
  openForReading,
  openForWriting,
  prepareErasedAt,
  prepareSharedBatch,
  readLogId,
  readSharedBatch,
} from '../storage/schema.js'
import { openKeys } from '../storage/keys.js'
import { CommittedReads } from './committed-reads.js'
import type { Delta, NewPlace, Place, Rows } from './postgres/rows.js'
import { keyNotes, WrittenRows } from './written-rows.js'

export type ReplicaOptions = {
  file: string
  logId: string
  vault: Vault
  pragmas?: readonly string[] | undefined
  /** The time of events, in milliseconds since 1970. */
  now: () => number
}

type OpenTransaction = WriteTransaction & { reads: CommittedReads; rows: WrittenRows; noteBatch: ReturnType<typeof prepareSharedBatch> }

/** The id of the file's own log, if it has events and follows no shared log, such as a restored backup. */
export const ownLogIn = (file: string): string | undefined => {
  if (!existsSync(file)) return undefined
  const db = openForReading(file)
  try {
    return readSharedBatch(db) === undefined && lastPosition(db) > 0 ? readLogId(db) : undefined
  } finally {
    db.close()
  }
}

/** The changes of a commit, for the listeners. */
export type CommitChanges = { position: number; changed: ChangedStreams; written: readonly WrittenEvent[] }

/**
 * The file of one node: its copy of the shared log. A batch is tried in a transaction, which stays open until PostgreSQL has decided;
 * batches of others are added in between. The file may be behind PostgreSQL, but never ahead.
 */
export class Replica {
  #open: OpenTransaction | undefined
  #place: Place
  #isClosed = false
  /** Set while the log is sealed with a master key that this node does not have. */
  #lacksKey: Refusal | undefined
  readonly #file: OpenedFile
  readonly #turns = new LoopTurns()

  /** @throws ConfigError when the file is that of another log */
  constructor(private readonly options: ReplicaOptions) {
    this.#file = new OpenedFile(options.file)
    const { open, place } = this.#connect()
    this.#open = open
    this.#place = place
  }

  /** Opens the file unless it is open. @throws Error of the storage, Problem when another file took its place */
  open(): OpenTransaction {
    if (this.#open) return this.#open
    if (this.#isClosed) throw new Error('the replica is closed')
    const { open, place } = this.#connect()
    this.#place = place
    return (this.#open = open)
  }

  #connect(): { open: OpenTransaction; place: Place } {
    const refusal = this.#file.displaced()
    if (refusal) throw writesRefused(refusal)
    const { file, logId, vault, now, pragmas = [] } = this.options
    const db = openForWriting(file, () => logId)
    try {
      // PostgreSQL makes a commit durable. After a crash of the machine the file may be behind, and then follows.
      db.pragma('synchronous = NORMAL')
      for (const pragma of pragmas) db.pragma(pragma)
      const found = readLogId(db)
      if (found !== logId) throw new ConfigError(`the data directory has the log ${found}, and the shared log is ${logId}`)
      ensureResources(db)
      const writer = new LogWriter(db, vault, now)
      const { seq, batch } = readSharedBatch(db) ?? { seq: 0, batch: undefined }
      const { position, chain } = writer.tail
      const notes = { erasedAt: prepareErasedAt(db), rows: new WrittenRows(db), noteBatch: prepareSharedBatch(db) }
      this.#file.note()
      const reads = new CommittedReads(file, vault, writer.tail)
      return { open: { db, writer, reads, ...notes }, place: { seq, position, chain, batch } }
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** The batch and the event that the file ended with when it was last open. It is known even while the file cannot be opened. */
  get place(): Place {
    return this.#place
  }

  /** The chain up to a committed event; undefined if there is no such event. @throws the error of the storage */
  chainAt(position: number): Buffer | undefined {
    return this.reads.db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck().get(position)
  }

  get reads(): Reads {
    return this.open().reads
  }

  /** Why nothing may be written. */
  displaced(): Refusal | undefined {
    return this.#file.displaced() ?? this.#lacksKey
  }

  /** @throws Problem when other nodes could not read data that this node seals */
  requireKey(): void {
    if (this.#lacksKey) throw writesRefused(this.#lacksKey)
  }

  begin(): WriteTransaction {
    const open = this.open()
    open.writer.begin()
    open.rows.begin()
    return open
  }

  /** The rows of the batch so far, and the place after it. */
  tried(): { rows: Rows; to: NewPlace } {
    const { writer, rows } = this.open()
    const { position, chain } = writer.tail
    return { rows: rows.since(this.#place.position), to: { seq: this.#place.seq + 1, position, chain, batch: randomUUID() } }
  }

  /** Undoes the batch. If that fails, the file is opened again. */
  giveBack(): void {
    try {
      this.#open?.writer.giveBack()
    } catch {
      this.disconnect()
    }
  }

  /** Keeps the batch, which PostgreSQL accepted; `newest` is the newest one that PostgreSQL has, by default this one. */
  commit({ seq, batch }: Place, newest = seq): CommitChanges {
    const { writer, reads, noteBatch } = this.open()
    noteBatch({ seq, batch }, newest)
    writer.commit()
    this.#place = { seq, position: writer.tail.position, chain: writer.tail.chain, batch }
    reads.advance(writer.tail, writer.changed.keys())
    return { position: writer.tail.position, changed: writer.changed, written: writer.written }
  }

  /**
   * Adds the batches of others in one transaction. It gives way to other work of this process in between; readers see nothing of it before
   * the commit. Nothing else may write to the file meanwhile.
   * @throws RangeError when it does not follow from the file; nothing is added then
   */
  async take({ rows, to, newest }: Delta): Promise<CommitChanges> {
    this.begin()
    try {
      // It does not wait for other long work, because the node would fall behind then.
      await inTurns(this.#add(rows, to), { turns: this.#turns, maxParts: limits.sharedTurnMaxRows })
      const committed = this.commit(to, newest)
      if (rows.notes.some(({ key }) => keyNotes.has(key))) this.#followKeys()
      return committed
    } catch (error) {
      this.giveBack()
      throw error
    }
  }

  /** Adds rows to the open transaction, and yields after each. */
  *#add(rows: Rows, to: Place): Generator<void, void> {
    const { writer, rows: written } = this.open()
    for (const event of rows.events) {
      writer.add(event)
      yield
    }
    if (writer.tail.position !== to.position || !writer.tail.chain.equals(to.chain))
      throw new RangeError(`the events up to position ${to.position} of the shared log do not lead to its chain`)
    yield* written.put(rows)
  }

  /** Another node began or ended a rotation of the master key: from now on this node seals with the key in use. */
  #followKeys(): void {
    try {
      openKeys(this.open().db, this.options.vault)
      this.#lacksKey = undefined
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.#lacksKey = { cause: error.message, hint: 'Start this node with the new key.' }
    }
  }

  /** Closes the file; it is opened again when it is needed. */
  disconnect(): void {
    const open = this.#open
    this.#open = undefined
    this.#file.forgetWal()
    open?.reads.close()
    open?.db.close()
  }

  close(): void {
    this.#isClosed = true
    this.disconnect()
  }
}
