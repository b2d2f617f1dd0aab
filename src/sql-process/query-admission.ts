import { Problem } from '../basics/errors.js'
import { FairQueue } from '../basics/concurrency/fair-queue.js'

/** The right to run. A query executes until its first row, then it streams. */
export type Ticket = {
  /**
   * Whether it is the likely cause if the process ends now: it is a suspect, it takes longer than a quick query, and no other long query
   * executes.
   */
  readonly isOnlyLong: boolean
  /** Its execution begins. `giveWay` is called if it has no row after the time of a quick query, and no place for a long query is free. */
  begins: (giveWay: () => void) => void
  /** It waits for another system. It takes no place until the returned function is called. */
  waits: () => () => void
  streams: () => void
  release: () => void
}

/** `ranMs` says how long it had executed when the process ended. */
export type Suspect = { readonly ranMs: number }

export type EnterOptions = {
  /** The client of the query. A query without a client belongs to the service, and no share limits it. */
  client?: string | undefined
  /** It was executing when the process ended, and may be the cause. */
  suspect?: Suspect | undefined
  /** It is known to take longer than a quick query. */
  long?: boolean
  retried?: boolean
  signal?: AbortSignal | undefined
}

export type AdmissionLimits = {
  concurrentMaxQueries: number
  longMaxQueries: number
  queueMaxQueries: number
  waitingMaxQueries: number
  streamingMaxAnswers: number
  clientMaxPercent: number
  quickMs: number
}

type Waiter = { client: string; suspect: Suspect | undefined; long: boolean; admit: (ticket: Ticket) => void }
/** The stages of a suspect's execution. */
type Trial = { isOnlyLong: boolean; noLongerQuick: (giveWay: () => void) => void; leftExecution: () => void }
type PlaceCounts = { executing: number; long: number; waiting: number; streaming: number }

const own = ''
const nothing: PlaceCounts = { executing: 0, long: 0, waiting: 0, streaming: 0 }

/** Long queries run last. Among the others, the query with the shortest execution runs first. */
const byTime = (a: Waiter, b: Waiter): number => Number(a.long) - Number(b.long) || (a.suspect?.ranMs ?? 0) - (b.suspect?.ranMs ?? 0)

/**
 * Decides which queries run (admission control). A few execute at a time, and only some of these may be longer than a quick query, so that
 * quick ones always find a place. A client has at most its share of each kind of place, and clients take turns. When too many wait, the
 * next is refused.
 *
 * A query takes no place while it waits for another system.
 *
 * Suspects run one at a time. For the time of a quick query no other query begins, so that the suspect is most likely the cause if the
 * process ends. After that, quick queries may execute beside it. Between two suspects the other queries have their turns.
 *
 * @example const ticket = await admission.enter({ client: '203.0.113.7' }); ticket.begins(stop); ticket.streams(); ticket.release()
 */
export class QueryAdmission {
  readonly #all: PlaceCounts = { ...nothing }
  readonly #held = new Map<string, PlaceCounts>()
  /** How many executing queries have taken longer than a quick query. */
  #slow = 0
  /** The number of executing suspects. */
  #tried = 0
  /** Whether a suspect executes, and no other query may begin yet. */
  #alone = false
  /** How long suspects have excluded the other queries since their last turn. */
  #aloneMs = 0
  /** How many other queries may begin before the next suspect. */
  #turns = 0
  #pumping = false
  #holds = 0
  #suspects: Waiter[] = []
  readonly #quick = new FairQueue<Waiter>()
  readonly #long = new FairQueue<Waiter>()

  constructor(private readonly limits: AdmissionLimits) {}

  get running(): number {
    return this.#all.executing + this.#all.waiting + this.#all.streaming
  }

  get waiting(): number {
    return this.#quick.length + this.#long.length + this.#suspects.length
  }

  /** Admits no query until the returned function is called. Queries wait until then. */
  hold(): () => void {
    this.#holds += 1
    return () => {
      this.#holds -= 1
      this.#pumpSoon()
    }
  }

  /** Waits for a ticket. @throws Problem busy when too many wait already, or the signal's reason */
  async enter({ client = own, suspect, long = false, retried = false, signal }: EnterOptions = {}): Promise<Ticket> {
    signal?.throwIfAborted()
    if (!suspect && !retried) this.#refuseTooMany(client)
    return await new Promise<Ticket>((resolve, reject) => {
      const leave = () => {
        this.#quick.remove(waiter)
        this.#long.remove(waiter)
        this.#suspects = this.#suspects.filter((each) => each !== waiter)
        reject(signal?.reason as Error)
      }
      const waiter: Waiter = {
        ...{ client, suspect, long },
        admit: (ticket) => {
          signal?.removeEventListener('abort', leave)
          resolve(ticket)
        },
      }
      // A query that runs again has already waited, and comes before newer ones. This is not so for a long query that gave way.
      if (suspect) this.#suspects = [...this.#suspects, waiter].sort(byTime)
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

  /** How many of these places one client may have. */
  #share(client: string, places: number): number {
    return client === own ? places : Math.max(1, Math.floor((places * this.limits.clientMaxPercent) / 100))
  }

  #of(client: string): PlaceCounts {
    return this.#held.get(client) ?? nothing
  }

  #count(client: string, kind: keyof PlaceCounts, by: 1 | -1): void {
    const held = { ...this.#of(client), [kind]: this.#of(client)[kind] + by }
    this.#all[kind] += by
    if (held.executing + held.waiting + held.streaming === 0) this.#held.delete(client)
    else this.#held.set(client, held)
  }

  // An answer that its client reads slowly takes no place of executing queries.
  readonly #mayExecute = (client: string): boolean => {
    const { executing, streaming } = this.#of(client)
    const { concurrentMaxQueries, streamingMaxAnswers } = this.limits
    return executing < this.#share(client, concurrentMaxQueries) && streaming < this.#share(client, streamingMaxAnswers)
  }

  readonly #mayTakeLong = (client: string): boolean => {
    const { longMaxQueries } = this.limits
    return this.#all.long < longMaxQueries && this.#of(client).long < this.#share(client, longMaxQueries)
  }

  #mayWait(client: string): boolean {
    const { waitingMaxQueries } = this.limits
    return this.#all.waiting < waitingMaxQueries && this.#of(client).waiting < this.#share(client, waitingMaxQueries)
  }

  #isFull(): boolean {
    return this.#all.executing >= this.limits.concurrentMaxQueries || this.#all.streaming >= this.limits.streamingMaxAnswers
  }

  // The queries of a lost process come back in the same turn of the event loop. They are sorted before the first one is admitted.
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
      const next = this.#suspects[0] ? this.#nextBeside(this.#suspects[0]) : this.#nextOfOthers()
      if (!next) return
      next.admit(next.suspect ? this.#trial(next) : this.#ticket(next))
    }
  }

  #nextOfOthers(): Waiter | undefined {
    // Long queries first: they have few places, and quick queries soon leave theirs. No long query runs beside a suspect, because it would
    // hide the cause.
    const long = this.#tried > 0 ? undefined : this.#long.next((client) => this.#mayExecute(client) && this.#mayTakeLong(client))
    return long ?? this.#quick.next(this.#mayExecute)
  }

  /** The next query while a suspect waits. */
  #nextBeside(suspect: Waiter): Waiter | undefined {
    // A long suspect does not run beside another long query. Quick queries go on until that one ends.
    if (suspect.long && this.#slow > 0) return this.#quick.next(this.#mayExecute)
    const other = this.#turns > 0 ? this.#quick.next(this.#mayExecute) : undefined
    if (other) {
      this.#turns -= 1
      return other
    }
    // Queries that began a moment ago end soon, or give way.
    return this.#all.executing > this.#slow ? undefined : this.#suspects.shift()
  }

  /** The ticket of a suspect, which executes alone for the time of a quick query. */
  #trial(waiter: Waiter): Ticket {
    const from = performance.now()
    let isAlone = true
    this.#alone = true
    this.#tried += 1
    const letOthersIn = () => {
      if (!isAlone) return
      isAlone = this.#alone = false
      this.#aloneMs += performance.now() - from
      if (this.#aloneMs < this.limits.quickMs) return
      this.#aloneMs = 0
      this.#turns = this.limits.concurrentMaxQueries
    }
    const trial: Trial = {
      isOnlyLong: false,
      noLongerQuick: (giveWay) => {
        letOthersIn()
        // The suspect itself counts as slow. With another slow query beside it, the cause of a loss would be unclear.
        trial.isOnlyLong = this.#slow === 1
        if (!trial.isOnlyLong) giveWay()
      },
      leftExecution: () => {
        letOthersIn()
        this.#tried -= 1
      },
    }
    return this.#ticket(waiter, trial)
  }

  #ticket({ client, suspect, long }: Waiter, trial?: Trial): Ticket {
    let phase: 'executing' | 'waiting' | 'streaming' | 'over' = 'executing'
    let isLong = long && !suspect
    let isSlow = isLong
    let quick: NodeJS.Timeout | undefined
    let onNoLongerQuick: (() => void) | undefined
    /** The number of answers that it waits for, and the start of the wait. */
    let [waits, waitsFrom] = [0, 0]
    const take = (by: 1 | -1) => {
      this.#count(client, 'executing', by)
      if (isLong) this.#count(client, 'long', by)
      if (isSlow) this.#slow += by
    }
    take(1)
    const leaveExecution = () => {
      clearTimeout(quick)
      take(-1)
      trial?.leftExecution()
      this.#pumpSoon()
    }
    const startQuick = () => {
      if (onNoLongerQuick && !isSlow) quick = setTimeout(isNoLongerQuick, this.limits.quickMs, onNoLongerQuick)
    }
    const isNoLongerQuick = (giveWay: () => void) => {
      isSlow = true
      this.#slow += 1
      this.#pumpSoon()
      if (trial) {
        trial.noLongerQuick(giveWay)
        return
      }
      isLong = this.#tried + this.#suspects.length === 0 && this.#mayTakeLong(client)
      if (isLong) this.#count(client, 'long', 1)
      else giveWay()
    }
    return {
      get isOnlyLong() {
        return trial?.isOnlyLong ?? false
      },
      begins: (giveWay) => {
        if (phase !== 'executing') return
        onNoLongerQuick = giveWay
        startQuick()
      },
      waits: () => {
        if (phase === 'executing') {
          // A suspect keeps its place, so that the cause of a loss is clear.
          if (trial || !this.#mayWait(client)) return () => undefined
          phase = 'waiting'
          waitsFrom = performance.now()
          clearTimeout(quick)
          take(-1)
          this.#count(client, 'waiting', 1)
          this.#pumpSoon()
        }
        if (phase !== 'waiting') return () => undefined
        waits += 1
        let isOver = false
        return () => {
          waits -= isOver ? 0 : 1
          isOver = true
          if (phase !== 'waiting' || waits > 0) return
          phase = 'executing'
          this.#count(client, 'waiting', -1)
          // A query that has waited for long is not refused: it would only wait again. For a moment there may be too many queries.
          if (performance.now() - waitsFrom >= this.limits.quickMs) isLong = isSlow = true
          take(1)
          startQuick()
        }
      },
      streams: () => {
        if (phase !== 'executing' && phase !== 'waiting') return
        if (phase === 'executing') leaveExecution()
        else this.#count(client, 'waiting', -1)
        phase = 'streaming'
        this.#count(client, 'streaming', 1)
      },
      release: () => {
        if (phase === 'executing') leaveExecution()
        else if (phase !== 'over') this.#count(client, phase, -1)
        phase = 'over'
        this.#pumpSoon()
      },
    }
  }
}
