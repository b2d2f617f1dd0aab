import { setTimeout as sleep } from 'node:timers/promises'
import { unreachable } from '../../events/common.js'
import { Problem } from '../basics/errors.js'
import type { SqlChildProcess, Loss } from './child-process.js'
import type { Ticket } from './query-admission.js'
import type { LineFrame } from './contract/frames.js'
import type { Answer } from './query-connection.js'
import type { SqlProcessLimits } from './contract/options.js'
import type { SelectAnswer, SelectEnd, SelectRequest } from '../sql/contract/select.js'
import { queryTooSlow } from '../sql/contract/too-slow.js'

/** The process ended under a query before its first row: the query may run again. */
export class LostError extends Error {
  constructor(
    readonly loss: Loss,
    /** Whether this query was the only one executing. */
    readonly alone: boolean,
    readonly begun: boolean,
    /** How long it had executed. */
    readonly ranMs: number,
  ) {
    super('the SQL process was lost')
  }
}

/** The query took longer than a quick one and gave its place to others. It begins again when there is a place for a long query. */
export class PreemptedError extends Error {
  constructor() {
    super('the query gave its place to others')
  }
}

/** `limitProblem('sqlAnswerMaxAgeMs', 'Answer read too slowly', '…')`: the problem of a limit that was reached, by its name. */
const limitProblem = (limit: string, title: string, detail: string): Problem =>
  new Problem('query_limit', title, `${detail} (${limit}).`, { limit })

/** The problem of a query that was running alone when the process ended. */
export const blamedFor = (loss: Loss, { memoryMaxBytes, timeoutMs }: SqlProcessLimits): Problem => {
  switch (loss) {
    case 'memory': {
      const detail = `The query needed more than ${Math.round(memoryMaxBytes / 2 ** 20)} MiB of memory`
      return limitProblem('sqlMemoryMaxBytes', 'Query needs too much memory', detail)
    }
    case 'blocked':
    case 'stuck':
      return queryTooSlow({}, timeoutMs)
    case 'died':
    case 'other_rows':
    case 'replaced':
      return new Problem('query_failed', 'Query ended the SQL process', 'The process that answers SQL ended while this query ran.')
    default:
      return unreachable(loss)
  }
}

const exitWaitMs = 2_000
const nothing = Buffer.alloc(0)

/** One try of one query on one process. Its deadline counts the time of the process, not the time of a client that reads slowly. */
export class QueryAttempt {
  #timeoutMs: number
  #request: SelectRequest | undefined
  #remainingMs: number
  #begun = false
  #begunAt = 0
  #over = false
  #isExpired = false
  #ending: Promise<boolean> | undefined
  /** Resolves when the query has ended. It exists before the query is sent, because a short query ends before its first row is read. */
  #ended: Promise<void> | undefined
  #age: NodeJS.Timeout | undefined
  #answer: Answer | undefined
  #stopped: { reason: unknown } | undefined
  readonly #aborted = () => this.#abandon(this.signal?.reason)

  constructor(
    private readonly number: number,
    private readonly child: SqlChildProcess,
    private readonly ticket: Ticket,
    private readonly limits: SqlProcessLimits,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#timeoutMs = limits.timeoutMs
    this.#remainingMs = limits.timeoutMs
  }

  /** Resolves with the first rows, so that a failure before them can be reported, or the query can run again. @throws LostError, Problem */
  async open(request: SelectRequest): Promise<SelectAnswer> {
    this.signal?.addEventListener('abort', this.#aborted, { once: true })
    try {
      this.signal?.throwIfAborted()
      this.#ended = this.child.ended(this.number)
      this.#answer = this.child.ask(this.number, request)
      const begun = await this.#next()
      if (!('begun' in begun)) throw new TypeError('an answer does not begin with the execution')
      this.#begun = true
      this.#begunAt = performance.now()
      this.child.awaited.add(this.number)
      // The part of the answer that has arrived is dropped, and the process releases the resources of the query.
      this.ticket.begins(() => {
        if (!this.child.mayHaveChanged(this.number)) this.#answer?.stop(new PreemptedError())
      })
      this.child.waits.set(this.number, () => this.ticket.waits())
      this.#request = request
      this.#timeoutMs = request.timeoutMs ?? this.#timeoutMs
      this.#remainingMs = this.#timeoutMs
      const head = await this.#next()
      if (!('columns' in head)) throw new TypeError('an answer does not begin with its columns')
      const first = await this.#next()
      this.ticket.streams()
      const maxAgeMs = Math.max(this.limits.answerMaxAgeMs, this.#timeoutMs)
      this.#age = setTimeout(() => this.#abandon(tooOld(maxAgeMs)), maxAgeMs)
      const rows = this.#rows(first)
      // A generator that has not started would not notice that its reader leaves, and the query would keep its place.
      await rows.next()
      return { ...head, rows }
    } catch (error) {
      throw await this.#settle(error)
    }
  }

  async *#rows(first: LineFrame): AsyncGenerator<Buffer, SelectEnd | undefined, void> {
    try {
      yield nothing
      for (let frame = first; ; frame = await this.#next()) {
        if ('rows' in frame) yield frame.rows
        else if ('end' in frame) {
          this.#finish()
          return frame.end
        } else throw new TypeError('an answer has columns twice')
      }
    } catch (error) {
      const settled = await this.#settle(error)
      throw settled instanceof LostError ? this.#cutOff(settled) : settled
    } finally {
      // A reader that stops early means that the client left.
      if (!this.#over) this.#abandon(new Problem('query_failed', 'Query cancelled', 'The answer was not read to its end.'))
    }
  }

  /** The next frame; an error is thrown. */
  async #next(): Promise<LineFrame> {
    const frame = await this.#waiting()
    if (!('error' in frame)) return frame
    this.#finish()
    throw frame.error
  }

  /** Waits for the process; the wait counts as time of the query. */
  async #waiting(): Promise<LineFrame> {
    if (!this.#answer) throw new TypeError('no query was sent')
    const from = performance.now()
    const timer = setTimeout(() => this.#expire(), this.#remainingMs)
    try {
      return await this.#answer.next()
    } finally {
      clearTimeout(timer)
      this.#remainingMs -= performance.now() - from
    }
  }

  #expire(): void {
    this.#isExpired = true
    this.#abandon(this.#expired())
  }

  #expired(): Problem {
    if (this.#begun) return queryTooSlow(this.#request ?? {}, this.#timeoutMs)
    return new Problem(
      'analytics_unavailable',
      'SQL is behind',
      `The tables did not reach the head of the log within ${this.#timeoutMs} ms.`,
    )
  }

  /** The error for the caller: the caller's own reason to stop, the loss of the process, or the error itself. */
  async #settle(error: unknown): Promise<unknown> {
    if (error instanceof PreemptedError) await this.#untilEnded()
    if (this.#stopped) return this.#isExpired && !(await this.#ending) ? this.#lost() : this.#stopped.reason
    if (this.#over) return error
    if (error instanceof PreemptedError && !this.child.isOver) {
      this.#finish()
      return error
    }
    if (this.signal?.aborted) {
      this.#finish()
      return error
    }
    // When the process ends, its connections break first.
    await Promise.race([this.child.exited, sleep(exitWaitMs, undefined, { ref: false })])
    if (!this.child.isOver) this.#abandon(error)
    this.#finish()
    return this.child.isOver ? this.#lost() : error
  }

  /** Waits until the query has stopped: by itself, at its deadline, or because its client left. */
  async #untilEnded(): Promise<void> {
    const timer = setTimeout(() => this.#expire(), this.#remainingMs)
    await this.#ended
    clearTimeout(timer)
  }

  #lost(): LostError {
    const ranMs = this.#begun ? performance.now() - this.#begunAt : 0
    return new LostError(this.child.loss, this.child.runningAtLoss <= 1, this.#begun || this.child.running.has(this.number), ranMs)
  }

  #cutOff({ loss, alone }: LostError): Problem {
    if (alone && loss !== 'died' && loss !== 'replaced') return blamedFor(loss, this.limits)
    return new Problem(
      'analytics_unavailable',
      'Answer cut off',
      'The process that answers SQL ended in the middle of this answer; ask again.',
    )
  }

  /** Nobody waits for the query any more. */
  #abandon(reason: unknown): void {
    if (this.#over || this.#stopped) return
    this.#stopped = { reason }
    this.#ending = this.#endOrKill()
    this.#answer?.stop(reason)
  }

  /**
   * Gives the query a moment to end by itself; then it kills the process, which ends the query. Returns whether this query is certainly the
   * cause: in a process that does not answer, any of its queries may be the cause.
   */
  async #endOrKill(): Promise<boolean> {
    const asked = performance.now()
    this.child.ping()
    await Promise.race([this.#ended, sleep(this.limits.cancelGraceMs, undefined, { ref: false })])
    if (this.child.running.has(this.number)) {
      this.child.kill(this.child.heardAt > asked ? 'stuck' : 'blocked')
      await this.child.exited
    }
    this.#finish()
    return !this.child.isOver || this.child.loss === 'stuck'
  }

  #finish(): void {
    this.#over = true
    this.child.awaited.delete(this.number)
    this.child.waits.delete(this.number)
    clearTimeout(this.#age)
    this.signal?.removeEventListener('abort', this.#aborted)
    this.ticket.release()
  }
}

const tooOld = (maxAgeMs: number): Problem =>
  limitProblem('sqlAnswerMaxAgeMs', 'Answer read too slowly', `The answer was not read within ${maxAgeMs} ms`)
