import { Problem } from '../errors.js'

/** The right to run. A query executes until its first row, then it streams. */
export type Ticket = {
  /** The query ran when the process was lost for memory or by itself: it executes alone, so that a second loss names it. */
  readonly suspect: boolean
  streams: () => void
  release: () => void
}

export type EnterOptions = { suspect?: boolean; retried?: boolean; signal?: AbortSignal | undefined }

type Waiter = { suspect: boolean; admit: (ticket: Ticket) => void }

/** Decides who runs: a few at a time, suspects one by one, the rest in order; when too many wait, the next is refused. */
export class Gate {
  #executing = 0
  #streaming = 0
  #alone = false
  #pumping = false
  #held = 0
  readonly #suspects: Waiter[] = []
  readonly #waiting: Waiter[] = []

  constructor(
    private readonly concurrentMax: number,
    private readonly queueMax: number,
    private readonly streamingMax: number,
  ) {}

  get running(): number {
    return this.#executing + this.#streaming
  }

  get waiting(): number {
    return this.#waiting.length + this.#suspects.length
  }

  /** Admits nobody until what it gives is called: those who come wait. */
  hold(): () => void {
    this.#held += 1
    return () => {
      this.#held -= 1
      this.#pumpSoon()
    }
  }

  /** Waits for a ticket. @throws Problem busy when too many wait already, or the signal's reason */
  async enter({ suspect = false, retried = false, signal }: EnterOptions = {}): Promise<Ticket> {
    signal?.throwIfAborted()
    if (!suspect && !retried && this.#executing + this.#waiting.length >= this.concurrentMax + this.queueMax) {
      throw new Problem('busy', 'Too many queries', `${this.queueMax} queries are waiting already (sqlQueueMaxQueries)`, {
        retryAfterSeconds: 1,
      })
    }
    return await new Promise<Ticket>((resolve, reject) => {
      const line = suspect ? this.#suspects : this.#waiting
      const leave = () => {
        line.splice(line.indexOf(waiter), 1)
        reject(signal?.reason as Error)
      }
      const waiter: Waiter = {
        suspect,
        admit: (ticket) => {
          signal?.removeEventListener('abort', leave)
          resolve(ticket)
        },
      }
      // Who has waited before does not wait behind those who came since.
      if (retried) line.unshift(waiter)
      else line.push(waiter)
      signal?.addEventListener('abort', leave, { once: true })
      this.#pumpSoon()
    })
  }

  // A client that takes its time over an answer holds no place of those that execute.
  #isFull(): boolean {
    return this.#executing >= this.concurrentMax || this.#streaming >= this.streamingMax
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
    while (this.#held === 0 && !this.#alone && !this.#isFull()) {
      if (this.#suspects.length > 0 && this.#executing > 0) return
      const next = this.#suspects.shift() ?? this.#waiting.shift()
      if (!next) return
      this.#alone = next.suspect
      this.#executing += 1
      next.admit(this.#ticket(next.suspect))
    }
  }

  #ticket(suspect: boolean): Ticket {
    let phase: 'executing' | 'streaming' | 'over' = 'executing'
    const leaveExecution = () => {
      this.#executing -= 1
      if (suspect) this.#alone = false
      this.#pumpSoon()
    }
    return {
      suspect,
      streams: () => {
        if (phase !== 'executing') return
        phase = 'streaming'
        this.#streaming += 1
        leaveExecution()
      },
      release: () => {
        if (phase === 'executing') leaveExecution()
        else if (phase === 'streaming') this.#streaming -= 1
        phase = 'over'
        this.#pumpSoon()
      },
    }
  }
}
