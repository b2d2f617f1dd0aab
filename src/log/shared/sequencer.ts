import { limits } from '../../basics/limits.js'
import { undoTogether } from '../../basics/undo.js'
import { addressesIn } from '../../setup/postgres-url.js'
import { fullPart, scaledPart, type Delta, type NewPlace, type PartBounds, type Place, type Rows } from './postgres/rows.js'
import type { ServerClock } from './server-clock.js'
import { isLate, Link, SharedLogSession, UnreachableError, UnreplicatedError } from './postgres/shared-log-session.js'
import {
  appendBatch,
  batchBefore,
  chainAt,
  commitLocked,
  deltaAfter,
  lockHead,
  lookAt,
  partAfter,
  reappendedAfter,
  waitForStandby,
  wasAppended,
  type SharedHead,
  type SentBatch,
} from './postgres/statements.js'
import { channel, talkChannel } from './postgres/tables.js'

/** A batch was sent, and it is not known whether it was recorded: PostgreSQL was away, or did not wait for its standby. */
export class UnknownOutcomeError extends Error {}

/** The shared log does not have all events of this node: it lost some, or has others in their place. */
export class ForkError extends Error {}

/** The end of a batch: it is in the log, or another node was quicker. */
export type AppendResult = 'accepted' | 'stale'

/** The head while nobody else can move it. */
export type Lock = {
  readonly delta: Delta
  append: (from: Place, to: NewPlace, rows: Rows) => Promise<AppendResult>
  /** Gives it back without a batch. */
  release: () => Promise<void>
}

/** Parts that were read in time until the next ones may be larger. One that is too large costs the time of a statement. */
const partsUntilLarger = 10

/** The number of a batch that a notification has. Every login to the database can send one, with any text. */
const batchIn = (said: string): number | undefined => (/^\d{1,15}$/.test(said) ? Number(said) : undefined)

/**
 * PostgreSQL decides the order of batches. One connection writes; another follows, so that a question about the newest batch never waits
 * behind a batch that is written.
 */
export class Sequencer {
  /** Hears the number of each new batch. */
  onNotified: (seq: number) => void = () => undefined
  /** Hears the messages between nodes. */
  onSaid: (text: string) => void = () => undefined
  readonly #writing: Link
  readonly #listening: Link
  /** Opened only when PostgreSQL has a synchronous standby. Nothing else waits behind a standby that is away. */
  readonly #waiting: Link
  #hasStandby = false
  /** How much a part of the batches of others may have now, and how many parts were read in time since it became smaller. */
  #bounds = fullPart
  #inTime = 0
  /** When all hosts were last asked, in milliseconds of performance.now(). */
  #metAt = performance.now()

  constructor(
    private readonly url: string,
    private readonly clock: ServerClock,
  ) {
    this.#writing = new Link(url)
    this.#waiting = new Link(url)
    const listen = async (session: SharedLogSession): Promise<void> => {
      await session.query(`LISTEN ${channel}; LISTEN ${talkChannel}`)
    }
    this.#listening = new Link(url, listen, (said, on) => {
      if (on === talkChannel) this.onSaid(said)
      else {
        const seq = batchIn(said)
        if (seq !== undefined) this.onNotified(seq)
      }
    })
  }

  /** The newest batch, and the chain up to it. @throws UnreachableError */
  async look(): Promise<SharedHead> {
    this.#meetHosts()
    const session = await this.#listening.session()
    const sent = this.clock.tick()
    const look = await lookAt(session)
    this.clock.note(sent, look.now)
    this.#hasStandby = look.hasStandby
    return look
  }

  /** A primary that was replaced and lives on breaks no session, so the other hosts are asked from time to time. */
  #meetHosts(): void {
    const now = performance.now()
    if (now - this.#metAt < limits.sharedHostsLookMs) return
    this.#metAt = now
    if (addressesIn(this.url).length > 1) void SharedLogSession.meet(this.url)
  }

  /**
   * A server lacks the events of this node. This may be an old primary, while the new one is only slow.
   * @throws UnreachableError, ForkError
   */
  async #lacking(session: SharedLogSession): Promise<never> {
    await SharedLogSession.meet(this.url)
    if (session.isDeposed) throw new UnreachableError('the server lacks events of this node: another one was promoted since')
    throw new ForkError('the shared log does not have the events of this node')
  }

  /**
   * Resolves when everything that PostgreSQL has recorded is as safe as it promises: a synchronous standby, if there is one, has it, too.
   * @throws UnknownOutcomeError when that is not known
   */
  async confirm(): Promise<void> {
    if (!this.#hasStandby) return
    try {
      await waitForStandby(await this.#waiting.session())
    } catch (error) {
      throw new UnknownOutcomeError('it is not known whether the standby has it', { cause: error })
    }
  }

  /** Asks something else over the connection that follows. @throws UnreachableError */
  async ask<T>(question: (session: SharedLogSession) => Promise<T>): Promise<T> {
    return question(await this.#listening.session())
  }

  /**
   * A part of the rows after a place. While `goOn` returns true, a part that takes too long is read smaller.
   * @throws ForkError, UnreachableError; the error of a statement that took too long
   */
  async after(place: Place, goOn?: () => boolean): Promise<Delta> {
    return this.#part((session, bounds) => deltaAfter(session, place, bounds), goOn)
  }

  /** The rows after a place, up to the last batch that ended before a position. @throws ForkError, UnreachableError */
  async before(position: number, place: Place): Promise<Delta | undefined> {
    const batches = (await batchBefore(await this.#listening.session(), position)) - place.seq
    if (batches <= 0) return undefined
    return this.#part((session, bounds) => deltaAfter(session, place, bounds), undefined, batches)
  }

  /**
   * Reads a part. If that takes too long, it reads a smaller one, down to a batch; after some parts in time, they become larger again. It
   * reads at most `most` batches.
   * @throws ForkError, UnreachableError; the error of the statement when `goOn` returns false after it
   */
  async #part<T>(
    read: (session: SharedLogSession, bounds: PartBounds) => Promise<T | undefined>,
    goOn: () => boolean = () => true,
    most = Infinity,
  ): Promise<T> {
    for (;;) {
      const bounds = { ...this.#bounds, batches: Math.min(this.#bounds.batches, most) }
      try {
        const session = await this.#listening.session()
        const part = await read(session, bounds)
        this.#inTime += 1
        if (this.#inTime % partsUntilLarger === 0) this.#bounds = scaledPart(this.#bounds, 2)
        return part ?? (await this.#lacking(session))
      } catch (error) {
        if (!isLate(error) || bounds.batches === 1) throw error
        this.#bounds = scaledPart(bounds, 1 / 2)
        this.#inTime = 0
        if (!goOn()) throw error
      }
    }
  }

  /**
   * The batch after which a file that ends at `position` continues. It lies before the batch of that event, and before all batches that
   * were lost and appended again under other numbers. Undefined when the shared log has other events.
   * @throws UnreachableError
   */
  async batchOf(position: number, chain: Buffer): Promise<number | undefined> {
    const session = await this.#listening.session()
    if (position === 0) return 0
    if (!(await chainAt(session, position))?.equals(chain)) return undefined
    return Math.min(await batchBefore(session, position), (await reappendedAfter(session)) ?? Infinity)
  }

  /** A part of the rows after a batch, with the events after a position. @throws ForkError, UnreachableError */
  async since(seq: number, position: number): Promise<Delta> {
    return this.#part((session, bounds) => partAfter(session, { seq, position }, bounds))
  }

  /**
   * Appends a batch if the log is where this node is.
   * @throws UnreachableError when nothing was recorded, UnknownOutcomeError when that is not known
   */
  async append(from: Place, to: NewPlace, rows: Rows): Promise<AppendResult> {
    const sent = { from, to, rows }
    const session = await this.#writing.session()
    return this.#settled(sent, () => this.#send(session, sent))
  }

  /** Takes the head, and returns the rows that this node lacks. @throws ForkError, UnreachableError */
  async lock(place: Place): Promise<Lock> {
    const session = await this.#writing.session()
    try {
      await lockHead(session)
      const delta = await deltaAfter(session, place, this.#bounds)
      if (!delta) {
        // The others need the head meanwhile.
        session.destroy()
        return await this.#lacking(session)
      }
      return {
        delta,
        append: (from, to, rows) => this.#appendLocked(session, { from, to, rows }),
        release: async () => {
          await session.query('ROLLBACK').catch(() => session.destroy())
        },
      }
    } catch (error) {
      session.destroy()
      throw error
    }
  }

  async #appendLocked(session: SharedLogSession, sent: SentBatch): Promise<AppendResult> {
    let appended: AppendResult
    try {
      appended = await this.#send(session, sent)
    } catch (error) {
      // Without its COMMIT nothing is recorded.
      session.destroy()
      throw error
    }
    return this.#settled(sent, async () => {
      await commitLocked(session)
      return appended
    })
  }

  async #send(session: SharedLogSession, sent: SentBatch): Promise<AppendResult> {
    const tick = this.clock.tick()
    const now = await appendBatch(session, sent)
    if (now === undefined) return 'stale'
    this.clock.note(tick, now)
    return 'accepted'
  }

  /** When the answer to a batch was lost, the log is asked whether it has it. */
  async #settled(sent: SentBatch, ask: () => Promise<AppendResult>): Promise<AppendResult> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof UnreplicatedError) throw new UnknownOutcomeError(error.message, { cause: error })
      if (!(error instanceof UnreachableError)) throw error
      return this.#resolve(sent, error)
    }
  }

  async #resolve(sent: SentBatch, lost: UnreachableError): Promise<AppendResult> {
    const until = performance.now() + limits.sharedWritePatienceMs
    for (;;) {
      let session: SharedLogSession | undefined
      try {
        session = await this.#writing.session()
        return (await wasAppended(session, sent)) ? 'accepted' : 'stale'
      } catch (error) {
        session?.destroy()
        if (!(error instanceof UnreachableError) || performance.now() > until) throw new UnknownOutcomeError(lost.message, { cause: error })
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80))
      }
    }
  }

  /**
   * The first position at which the shared log has another event than this node, or no event.
   *
   * @param chainOf the chain of this node up to a position
   */
  async firstOther(head: number, chainOf: (position: number) => Buffer | undefined): Promise<number> {
    const session = await this.#listening.session()
    let [same, other] = [0, head + 1]
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2)
      const [there, here] = [await chainAt(session, middle), chainOf(middle)]
      if (there && here?.equals(there)) same = middle
      else other = middle
    }
    return other
  }

  async close(): Promise<void> {
    await undoTogether([this.#writing, this.#listening, this.#waiting].map((link) => () => link.close()))
  }
}
