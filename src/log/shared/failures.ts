import { inspect } from 'node:util'
import { isProblem, type Problem } from '../../basics/errors.js'
import { isStorageError, storageFailed, writesRefused } from '../../basics/storage-error.js'
import { BlockingEventError, UnknownEventError } from '../sqlite/blocking-event-error.js'
import { isRefusal, isTooSlow, UnreachableError, UnreplicatedError } from './postgres/shared-log-session.js'
import { isMoved } from './postgres/tables.js'
import { away, differs, lostRows, movedAway, refusedThere, slow, unknown } from './problems.js'
import type { Replica } from './replica.js'
import { ForkError, UnknownOutcomeError, type Sequencer } from './sequencer.js'
import type { NodeStatus } from './node-status.js'

type Options = {
  replica: Replica
  sequencer: Sequencer
  status: NodeStatus
  /** The newest release of the other nodes, if it is newer than this one. @throws UnreachableError */
  newerRelease: () => Promise<string | undefined>
  /** Called with the number of a batch that the shared log may have. */
  onHeard: (seq: number) => void
}

/** Shows an operator an error with its causes. */
const warn = (error: unknown): void => process.emitWarning(inspect(error))

/**
 * The meaning of failures of the file, of PostgreSQL and of the shared log: for this node, which notes them in its status, and for a
 * caller.
 */
export class Failures {
  constructor(private readonly options: Options) {}

  /** The file failed: it is opened again, and its end checked. */
  ofFile(error: unknown): void {
    const { status, replica } = this.options
    status.fileFailed(error)
    try {
      replica.disconnect()
    } catch {
      // It is reopened in any case.
    }
  }

  /** A batch failed. Returns the error for its callers. */
  async ofBatch(error: unknown): Promise<unknown> {
    if (isProblem(error)) return error
    const { status, replica, onHeard } = this.options
    if (error instanceof UnknownOutcomeError) {
      // If the batch was recorded, this node hears of it as if another node had written it.
      onHeard(replica.place.seq + 1)
      if (!(error.cause instanceof UnreplicatedError)) status.serverFailed('away')
      return unknown()
    }
    if (error instanceof UnreachableError) {
      status.serverFailed('away')
      return away()
    }
    const problem = await this.#ofLog(error)
    if (problem) return problem
    this.ofFile(error)
    return storageFailed('written', error)
  }

  /** The batches of others could not be added. */
  async ofCatchUp(error: unknown): Promise<void> {
    if (await this.#ofLog(error)) return
    if (isStorageError(error) || isProblem(error)) this.ofFile(error)
    else if (!(error instanceof UnreachableError)) warn(error)
  }

  /** The meaning of a differing shared log, or of a statement that PostgreSQL refused; undefined for any other failure. */
  async #ofLog(error: unknown): Promise<Problem | undefined> {
    const { status } = this.options
    if (error instanceof ForkError) {
      await this.#fork()
      return writesRefused(status.refusal ?? differs('it lacks events of this node'))
    }
    if (error instanceof RangeError) return writesRefused(status.leave(differs(error.message)))
    if (error instanceof BlockingEventError) {
      if (error instanceof UnknownEventError) void this.#nameRelease(error)
      else warn(error)
      return writesRefused(status.standStill(error))
    }
    if (isMoved(error)) return writesRefused(status.leave(movedAway))
    if (!isRefusal(error)) return undefined
    if (isTooSlow(error)) {
      status.serverFailed('slow')
      return slow()
    }
    status.serverRefused(error.message)
    return refusedThere(error.message)
  }

  /** Nobody waits for the name of the release: PostgreSQL may be away by now. */
  async #nameRelease(error: UnknownEventError): Promise<void> {
    const { newerRelease, status } = this.options
    error.release = await newerRelease().catch(() => undefined)
    if (error.release !== undefined) status.standStill(error)
  }

  /** Names the events that the shared log lacks, and stops writing. */
  async #fork(): Promise<void> {
    const { replica, sequencer, status } = this.options
    try {
      const { db } = replica.open()
      const { position } = replica.place
      const chain = db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck()
      const first = await sequencer.firstOther(position, (at) => chain.get(at))
      status.leave(first > position ? lostRows : differs(`it lacks the positions ${first} to ${position} of this node`))
    } catch {
      // The next look finds it again.
    }
  }
}
