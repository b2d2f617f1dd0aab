import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Refusal } from '../../basics/opened-file.js'
import { isStorageError } from '../../basics/storage-error.js'
import type { CommitListener, LogHealth } from '../contract/log.js'
import type { CheckedProofs } from '../proof/checked-proofs.js'
import type { EventReads, Tail } from '../storage/events.js'
import type { PayloadReader, payloadStates } from '../storage/payloads.js'
import type { ResourceTable } from '../storage/resource-table.js'
import type { LogConnection } from '../storage/schema.js'
import type { KeptReplies } from './kept-replies.js'
import type { LogWriter } from './log-writer.js'

/** The file during the turn of a writer: a transaction is open. */
export type WriteTransaction = { readonly db: LogConnection; readonly writer: LogWriter; readonly erasedAt: () => number }

/** The state of the file for readers: the last commit, without a running transaction. */
export type Reads = {
  readonly db: LogConnection
  readonly resources: ResourceTable
  readonly answers: KeptReplies
  readonly events: EventReads
  readonly proofs: CheckedProofs
  readonly tail: Tail
  readonly payload: PayloadReader
  readonly payloadState: ReturnType<typeof payloadStates>
  readonly erasedAt: () => number
}

/** Work for one turn of the writer. It returns a function that sends its answer once the work is durable. */
export type QueuedWork = {
  carryOut: (open: WriteTransaction) => () => void
  reject: (error: unknown) => void
  /** The time of its arrival, in milliseconds of performance.now(). */
  since: number
}

/** The queue of writes to a log's file: they take turns, and reads run beside them. The other parts of a log use it. */
export interface WriteQueue {
  /**
   * Does work in the next transaction. The work may run again, if the state has changed when its turn is confirmed. So it must have no
   * effect outside the file.
   * @throws Problem when it is refused, too many wait, or the storage fails
   */
  inTurn<T>(work: (open: WriteTransaction) => T): Promise<T>
  /** Reads what the disk has. @throws Problem when the storage fails */
  read<T>(read: (reads: Reads) => T): Promise<T>
  /** Reads without waiting for the disk: the next loss of power may take the newest of it back. @throws Problem when the storage fails */
  readNow<T>(read: (reads: Reads) => T): T
  /** Does work on the writing connection while no transaction is open. */
  between<T>(work: (db: LogConnection) => T): Promise<T>
  /** The number of waiting commands, and the reason if nothing can be written. */
  health(): Omit<LogHealth, 'position'>
  refuseWrites(refusal: Refusal): void
  onCommitted(listener: CommitListener): () => void
  /** Executes the waiting work, then closes the file; later requests are refused. */
  close(): Promise<void>
}

/** Puts work at the end of the queue. @throws Problem when too many wait, and the errors of the turn */
export const enqueue = <T>(waiting: QueuedWork[], work: (open: WriteTransaction) => T): Promise<T> => {
  if (waiting.length >= limits.queueMaxCommands)
    return Promise.reject(new Problem('busy', 'Busy', `${limits.queueMaxCommands} commands are waiting already`, { retryAfterSeconds: 1 }))
  return new Promise((resolve, reject) => {
    const carryOut = (open: WriteTransaction) => {
      const outcome = work(open)
      return () => resolve(outcome)
    }
    waiting.push({ carryOut, reject, since: performance.now() })
  })
}

/**
 * Does one piece of work of an open transaction. Returns a function that sends its answer: its result, or its refusal.
 *
 * @throws the errors that undo the whole transaction: those of the storage, and each after which a change is half done
 */
export const runWork = (work: QueuedWork, open: WriteTransaction): (() => void) => {
  try {
    return work.carryOut(open)
  } catch (error) {
    if (isStorageError(error) || open.writer.isHalfDone) throw error
    return () => work.reject(error)
  }
}

/** The listeners to commits. A commit remains valid even if a listener throws: the error stops neither the log nor the other listeners. */
export class CommitListeners {
  readonly #listeners = new Set<CommitListener>()

  /** Calls the listener after each commit. Returns a function that ends this. */
  add(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells all listeners of a commit. An error of one becomes a warning of the process, and the others are still called. */
  announce(...commit: Parameters<CommitListener>): void {
    for (const listener of this.#listeners)
      try {
        listener(...commit)
      } catch (error) {
        process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error))
      }
  }
}
