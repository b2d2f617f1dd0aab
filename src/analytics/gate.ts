import { Problem } from '../errors.js'
import { FairQueue } from './fair-queue.js'

/** The right to run. A query executes until its first row, then it streams. */
export type Ticket = {
  /** The query ran when the process was lost for memory or by itself: it executes alone, so that a second loss names it. */
  readonly suspect: boolean
  /** Its execution begins. `giveWay` is called when it has not given a row in the time of a quick query, and no place for a long one is free. */
  begins: (giveWay: () => void) => void
  streams: () => void
  release: () => void
}

export type EnterOptions = {
  /** Whose query it is. One without a client is the service's own, and is held to no share. */
  client?: string | undefined
  suspect?: boolean
  /** It is known to take longer than a quick one. */
  long?: boolean
  retried?: boolean
  signal?: AbortSignal | undefined
}

export type GateLimits = {
  concurrentMaxQueries: number
  longMaxQueries: number
  queueMaxQueries: number
  streamingMaxAnswers: number
  clientMaxPercent: number
  quickMs: number
}

type Waiter = { client: string; suspect: boolean; long: boolean; admit: (ticket: Ticket) => void }
type Held = { executing: number; long: number; streaming: number }

const own = ''
const nothing: Held = { executing: 0, long: 0, streaming: 0 }

/**
 * Decides who runs. A few execute at a time, and of those that take longer than a quick query only some, so that quick ones always
 * find a place; one client has at most its share of each kind of place, and clients take turns. Suspects execute one by one.
 * When too many wait, the next is refused.
 *
 * @example const ticket = await gate.enter({ client: '203.0.113.7' }); ticket.begins(stop); ticket.streams(); ticket.release()
 */
export class Gate {
  readonly #all: Held = { ...nothing }
  readonly #held = new Map<string, Held>()
  #alone = false
  #pumping = false
  #holds = 0
  readonly #suspects: Waiter[] = []
  readonly #quick = new FairQueue<Waiter>()
  readonly #long = new FairQueue<Waiter>()

  constructor(private readonly limits: GateLimits) {}

  get running(): number {
    return this.#all.executing + this.#all.streaming
  }

  get waiting(): number {
    return this.#quick.length + this.#long.length + this.#suspects.length
  }

  /** Admits nobody until what it gives is called: those who come wait. */
  hold(): () => void {
    this.#holds += 1
    return () => {
      this.#holds -= 1
      this.#pumpSoon()
    }
  }

  /** Waits for a ticket. @throws Problem busy when too many wait already, or the signal's reason */
  async enter({ client = own, suspect = false, long = false, retried = false, signal }: EnterOptions = {}): Promise<Ticket> {
    signal?.throwIfAborted()
    if (!suspect && !retried) this.#refuseTooMany(client)
    return await new Promise<Ticket>((resolve, reject) => {
      const leave = () => {
        this.#quick.remove(waiter)
        this.#long.remove(waiter)
        if (suspect) this.#suspects.splice(this.#suspects.indexOf(waiter), 1)
        reject(signal?.reason as Error)
      }
      const waiter: Waiter = {
        ...{ client, suspect, long },
        admit: (ticket) => {
          signal?.removeEventListener('abort', leave)
          resolve(ticket)
        },
      }
      // Who has waited before does not wait behind those who came since; one that gave way has not.
      if (suspect) this.#suspects.unshift(waiter)
      else if (long) this.#long.push(waiter)
      else this.#quick.push(waiter, { first: retried })
      signal?.addEventListener('abort', leave, { once: true })
      this.#pumpSoon()
    })
  }

  #refuseTooMany(client: string): void {
    const { concurrentMaxQueries, queueMaxQueries } = this.limits
    const refuse = (who: string, limit: string): never => {
      throw new Problem('busy', 'Too many queries', `${who} waiting already (${limit})`, { retryAfterSeconds: 1 })
    }
    const waiting = this.#quick.length + this.#long.length
    if (this.#all.executing + waiting >= concurrentMaxQueries + queueMaxQueries)
      refuse(`${queueMaxQueries} queries are`, 'sqlQueueMaxQueries')
    const share = this.#share(client, queueMaxQueries)
    const has = this.#of(client).executing + this.#quick.of(client) + this.#long.of(client)
    if (has >= this.#share(client, concurrentMaxQueries) + share) refuse(`${share} queries of this client are`, 'sqlClientMaxPercent')
  }

  /** How many of so many places one client may have. */
  #share(client: string, places: number): number {
    return client === own ? places : Math.max(1, Math.floor((places * this.limits.clientMaxPercent) / 100))
  }

  #of(client: string): Held {
    return this.#held.get(client) ?? nothing
  }

  #count(client: string, kind: keyof Held, by: 1 | -1): void {
    const held = { ...this.#of(client), [kind]: this.#of(client)[kind] + by }
    this.#all[kind] += by
    if (held.executing + held.streaming === 0) this.#held.delete(client)
    else this.#held.set(client, held)
  }

  // A client that takes its time over an answer holds no place of those that execute.
  readonly #mayExecute = (client: string): boolean => {
    const { executing, streaming } = this.#of(client)
    const { concurrentMaxQueries, streamingMaxAnswers } = this.limits
    return executing < this.#share(client, concurrentMaxQueries) && streaming < this.#share(client, streamingMaxAnswers)
  }

  readonly #mayTakeLong = (client: string): boolean => {
    const { longMaxQueries } = this.limits
    return this.#all.long < longMaxQueries && this.#of(client).long < this.#share(client, longMaxQueries)
  }

  #isFull(): boolean {
    return this.#all.executing >= this.limits.concurrentMaxQueries || this.#all.streaming >= this.limits.streamingMaxAnswers
  }

  // Those who lost a process come back in the same turn of the event loop, and suspects among them go first.
  #pumpSoon(): void {
    if (this.#pumping) return
    this.#pumping = true
    setImmediate(() => {
      this.#pumping = false
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#holds === 0 && !this.#alone && !this.#isFull()) {
      if (this.#suspects.length > 0 && this.#all.executing > 0) return
      // Long ones first: their places are few, and quick ones leave theirs soon.
      const next =
        this.#suspects.shift() ??
        this.#long.next((client) => this.#mayExecute(client) && this.#mayTakeLong(client)) ??
        this.#quick.next(this.#mayExecute)
      if (!next) return
      this.#alone = next.suspect
      next.admit(this.#ticket(next))
    }
  }

  #ticket({ client, suspect, long }: Waiter): Ticket {
    let phase: 'executing' | 'streaming' | 'over' = 'executing'
    let isLong = long
    let quick: NodeJS.Timeout | undefined
    this.#count(client, 'executing', 1)
    if (isLong) this.#count(client, 'long', 1)
    const leaveExecution = () => {
      clearTimeout(quick)
      if (isLong) this.#count(client, 'long', -1)
      this.#count(client, 'executing', -1)
      if (suspect) this.#alone = false
      this.#pumpSoon()
    }
    const isNoLongerQuick = (giveWay: () => void) => {
      isLong = this.#mayTakeLong(client)
      if (isLong) this.#count(client, 'long', 1)
      else giveWay()
    }
    return {
      suspect,
      begins: (giveWay) => {
        // A suspect has nobody beside it to give way to.
        if (phase === 'executing' && !isLong && !suspect) quick = setTimeout(isNoLongerQuick, this.limits.quickMs, giveWay)
      },
      streams: () => {
        if (phase !== 'executing') return
        phase = 'streaming'
        this.#count(client, 'streaming', 1)
        leaveExecution()
      },
      release: () => {
        if (phase === 'executing') leaveExecution()
        else if (phase === 'streaming') this.#count(client, 'streaming', -1)
        phase = 'over'
        this.#pumpSoon()
      },
    }
  }
}
