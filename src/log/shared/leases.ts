import { uptime } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../basics/limits.js'
import type { Lease, Leases } from '../contract/leases.js'
import type { SharedLogSession } from './postgres/shared-log-session.js'

/** The connection for the statements. It neither writes batches nor follows them, so that a renewal does not wait for them. */
type Way = { session: () => Promise<SharedLogSession> }

type Times = { leaseMs: number; renewIntervalMs: number; marginMs: number }

type Options = {
  way: Way
  /** A name of this run of this node. */
  node: string
  /**
   * Resolves when this node has everything that any node acknowledged, so that a new holder reads everything that earlier holders wrote.
   */
  newest: () => Promise<void>
  /** Whether this node may write. A node that must wait for an operator leaves the work to the others. */
  mayWrite: () => boolean
  /** Whether the file of this node can be written. Until it can, this node renews no lease: work whose end it cannot record moves on. */
  canWrite: () => boolean
  times?: Times
  /** Milliseconds of a clock that goes on while the machine sleeps. */
  elapsed?: () => number
}

const ownTimes: Times = {
  leaseMs: limits.leaseMs,
  renewIntervalMs: limits.leaseRenewIntervalMs,
  marginMs: limits.leaseMarginMs,
}

const sinceStart = () => uptime() * 1_000

const until = `clock_timestamp() + $2 * interval '1 millisecond'`

/** A holder that was heard of after its lease had ended was only cut off, for example because PostgreSQL was away. It is no loss. */
const wasCutOff = `EXISTS (SELECT FROM mindledger.nodes WHERE run = held.node AND seen_at > held.until)`

/**
 * Takes over a lease that ran out, and a lease of this node that is not held here: the answer that granted it was lost. While another node
 * holds it, this only reads: the conflict alone would lock its row, and that is a commit.
 */
const take = `
  INSERT INTO mindledger.leases AS held (name, node, epoch, losses, until)
  SELECT $1::text, $3::text, nextval('mindledger.lease_epochs'), 0, ${until}
  WHERE NOT EXISTS (SELECT FROM mindledger.leases WHERE name = $1::text AND node <> $3::text AND until >= clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET
    node = excluded.node, epoch = excluded.epoch, until = excluded.until,
    losses = held.losses + CASE WHEN held.node = excluded.node OR ${wasCutOff} THEN 0 ELSE 1 END
    WHERE held.until < clock_timestamp() OR held.node = excluded.node
  RETURNING epoch, losses`

/**
 * A lease that ran out goes on if no other node took it over. PostgreSQL may have lost the lease in a failover, and may have given its number
 * again: to another node, or to this one for another name.
 */
const renew = `
  UPDATE mindledger.leases SET until = ${until}
  WHERE node = $3 AND (name, epoch) IN (SELECT * FROM unnest($1::text[], $4::bigint[])) RETURNING name`

const giveBack = 'DELETE FROM mindledger.leases WHERE name = $1 AND epoch = $2 AND node = $3'

/** Removes the leases of a node that stops, and leases that no node has taken over for a day, because their work is done. */
const leave = `DELETE FROM mindledger.leases WHERE node = $1 OR until < clock_timestamp() - interval '1 day'`

class HeldLease implements Lease {
  readonly #lost = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(
    readonly name: string,
    readonly epoch: number,
    readonly losses: number,
    readonly release: () => Promise<void>,
    private readonly elapsed: () => number,
    private endsAt: number,
  ) {
    this.extend(endsAt)
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  get isHeld(): boolean {
    // After the process was stopped its timers are late.
    if (this.elapsed() >= this.endsAt) this.lose()
    return !this.#lost.signal.aborted
  }

  extend(endsAt: number): void {
    clearTimeout(this.#timer)
    if (this.#lost.signal.aborted) return
    this.endsAt = endsAt
    this.#timer = setTimeout(() => this.lose(), Math.max(0, endsAt - this.elapsed()))
    this.#timer.unref()
  }

  lose(): void {
    clearTimeout(this.#timer)
    this.#lost.abort(new Error(`the lease ${this.name} was lost`))
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * Leases in PostgreSQL, by its clock. Each is renewed well before it ends. A holder that cannot renew its lease counts it as lost some
 * time before another node can take it. It measures from the moment before it asked, so its lease never ends later than in PostgreSQL.
 * A node that may not write loses its leases, and takes none. A node whose file cannot be written takes none, and loses those that end
 * before the file works again.
 *
 * @example
 * const leases = new SharedLeases({ way: new Link(url), node: randomUUID(), newest, mayWrite: () => true, canWrite: () => true })
 * const lease = await leases.take('retention')
 */
export class SharedLeases implements Leases {
  readonly areShared = true
  /** The leases that this node holds, or lost before their work ended; undefined while PostgreSQL is asked for one. */
  readonly #held = new Map<string, HeldLease | undefined>()
  readonly #closing = new AbortController()
  #renewing: Promise<void> | undefined

  constructor(private readonly options: Options) {}

  async take(name: string): Promise<Lease | undefined> {
    const { mayWrite, canWrite } = this.options
    if (this.#held.has(name) || this.#closing.signal.aborted || !mayWrite() || !canWrite()) return undefined
    this.#held.set(name, undefined)
    try {
      const asked = this.#elapsed()
      const { rows } = await this.#query<{ epoch: string; losses: number }>(take, [name, this.#times.leaseMs, this.options.node])
      const [granted] = rows
      if (granted) return await this.#upToDate(this.#hold(name, Number(granted.epoch), granted.losses, asked))
    } catch {
      // PostgreSQL is away, as the log says.
    } finally {
      if (this.#held.get(name) === undefined) this.#held.delete(name)
    }
    return undefined
  }

  get #times(): Times {
    return this.options.times ?? ownTimes
  }

  #elapsed(): number {
    return (this.options.elapsed ?? sinceStart)()
  }

  /** When a lease that was asked for at a moment counts as lost. */
  #endOf(asked: number): number {
    return asked + this.#times.leaseMs - this.#times.marginMs
  }

  async #query<R extends Record<string, unknown>>(text: string, values: readonly unknown[]) {
    const session = await this.options.way.session()
    return session.query<R>(text, values, undefined)
  }

  #hold(name: string, epoch: number, losses: number, asked: number): HeldLease {
    const release = async () => {
      if (this.#held.get(name) !== held) return
      held.end()
      this.#held.delete(name)
      // If PostgreSQL does not hear of it, the lease runs out.
      await this.#query(giveBack, [name, epoch, this.options.node]).catch(() => undefined)
    }
    const held = new HeldLease(name, epoch, losses, release, () => this.#elapsed(), this.#endOf(asked))
    this.#held.set(name, held)
    this.#renewing ??= this.#renewAll()
    return held
  }

  async #upToDate(lease: Lease): Promise<Lease | undefined> {
    try {
      await this.options.newest()
      return lease
    } catch {
      await lease.release()
      return undefined
    }
  }

  async #renewAll(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await sleep(this.#times.renewIntervalMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => undefined)
      // A lease that cannot be renewed is tried again, and otherwise ends by itself.
      await this.#renew().catch(() => undefined)
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#held.values()].filter((one) => one !== undefined).filter(({ isHeld }) => isHeld)
    if (!this.options.mayWrite()) {
      for (const one of held) one.lose()
      return
    }
    if (held.length === 0 || !this.options.canWrite()) return
    const asked = this.#elapsed()
    const values = [held.map(({ name }) => name), this.#times.leaseMs, this.options.node, held.map(({ epoch }) => epoch)]
    const { rows } = await this.#query<{ name: string }>(renew, values)
    const renewed = new Set(rows.map(({ name }) => name))
    for (const one of held)
      if (renewed.has(one.name)) one.extend(this.#endOf(asked))
      else one.lose()
  }

  /** Gives back the leases of this node: their work must have ended. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#renewing
    for (const held of this.#held.values()) held?.end()
    await this.#query(leave, [this.options.node]).catch(() => undefined)
  }
}
