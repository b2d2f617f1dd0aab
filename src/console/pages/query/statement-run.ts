import { signal } from '@preact/signals'
import { pauseMs, rest, untilReachable } from '../../api/away.js'
import { ApiError } from '../../api/request.js'
import { run, type Statement } from '../../api/sql.js'
import { ofStatement } from '../../api/silence-timer.js'
import { asApiError } from '../../basics/loading.js'
import { mayWrite } from './statement-kind.js'
import { RowStore } from './answer/rows.js'
import { Summaries, type ColumnSummary } from '../../components/summary.js'

/** A table. `at` is the position or time that was read, undefined for the newest; `error` says why the table is incomplete. */
type TableOutcome = {
  type: 'table'
  store: RowStore
  at: string | undefined
  version: number
  isWhole: boolean
  isCut: boolean
  isDryRun: boolean
  firstMs: number
  ms: number
  error?: ApiError
}

/**
 * The result of a statement. `version` changes as rows arrive, because the store stays the same. A statement that writes may be carried
 * out although the page does not wait for its answer. `isWaiting` while the service is away.
 */
export type Outcome =
  | { type: 'none' }
  | { type: 'cancelled'; mayBeDone: boolean }
  | { type: 'running'; since: number; isWaiting?: boolean }
  | TableOutcome
  | { type: 'ok'; affected: number | null; ms: number }
  | { type: 'error'; error: ApiError }

/**
 * How a statement ended: with its whole answer, or the part that a page can keep; refused or cut off; cancelled by its user; or without an
 * answer, although it may have been carried out.
 */
export type Ending = 'done' | 'refused' | 'cancelled' | 'unanswered'

/** The time between two redraws of the page while rows arrive. */
const drawEveryMs = 120

/** The number of times that a statement is sent again after the service refused it because it was starting or busy. */
const againMax = 5

/** Refusals by which the service says that it did not begin a statement. */
const unbegun: ReadonlySet<string | undefined> = new Set(['busy', 'behind', 'analytics_unavailable'])

/** The second Ctrl Enter, if it comes within this time after the first. */
const twiceMs = 500

/** Whether an error does not tell how a statement ended: no answer came, or a proxy did not wait for it. */
const isUnanswered = ({ status }: ApiError): boolean => status === 0 || status === 504

/** The error of a statement that may have written: without an answer from the service, it may have been carried out. */
const unanswered = (error: ApiError): ApiError =>
  isUnanswered(error)
    ? new ApiError({
        status: error.status,
        detail: error.message,
        hint: 'The statement may have been carried out. Look before you run it again.',
      })
    : error

const doesWrite = ({ query, dryRun = false }: Omit<Statement, 'signal'>): boolean => !dryRun && mayWrite(query)

/** The running statement of a sheet, and its outcome. */
export class StatementRun {
  readonly outcome = signal<Outcome>({ type: 'none' })
  /** The statement of the outcome. */
  readonly statement = signal<Omit<Statement, 'signal'> | undefined>(undefined)
  #summaries: Summaries | undefined
  /** The summaries that were read last, and the outcome to which they belong. */
  #summarised: { of: Outcome; found: readonly ColumnSummary[] } | undefined
  #aborting: AbortController | undefined
  #mayWrite = false
  #asked: { text: string; at: number } | undefined

  get isRunning(): boolean {
    const outcome = this.outcome.value
    return outcome.type === 'running' || (outcome.type === 'table' && !outcome.isWhole)
  }

  /** The rows of a statement if its whole answer is here. */
  wholeAnswerOf(statement: Omit<Statement, 'signal'>): RowStore | undefined {
    const outcome = this.outcome.value
    if (outcome.type !== 'table' || !outcome.isWhole || outcome.isCut || outcome.error) return undefined
    return this.#isLast(statement) ? outcome.store : undefined
  }

  #isLast(statement: Omit<Statement, 'signal'>): boolean {
    return JSON.stringify(statement) === JSON.stringify(this.statement.value)
  }

  /** The summaries of the columns of the outcome. They take time, so they are made when they are shown. */
  columnSummaries(): readonly ColumnSummary[] {
    const outcome = this.outcome.value
    if (outcome.type !== 'table' || !this.#summaries) return []
    if (this.#summarised?.of !== outcome) this.#summarised = { of: outcome, found: this.#summaries.read() }
    return this.#summarised.found
  }

  /** Cancels the running statement; the rows that have arrived stay. The service stops a query when the connection closes. */
  cancel(): void {
    this.#aborting?.abort()
    const outcome = this.outcome.peek()
    if (outcome.type === 'running') this.outcome.value = { type: 'cancelled', mayBeDone: this.#mayWrite }
    else if (outcome.type === 'table') this.outcome.value = { ...outcome, isWhole: true, isCut: true }
  }

  /**
   * Whether a statement that writes is asked for twice by accident: it is still under way, or was asked for a moment ago. Each call is a
   * time that it is asked for.
   */
  isTwice(statement: Omit<Statement, 'signal'>): boolean {
    const text = JSON.stringify(statement)
    const now = performance.now()
    const before = this.#asked?.text === text ? this.#asked.at : undefined
    this.#asked = { text, at: now }
    return before !== undefined && doesWrite(statement) && (this.isRunning || now - before < twiceMs)
  }

  /** Whether another statement than this one is under way, and may change something: only its user ends it, because its end is not known. */
  isWritingOther(statement: Omit<Statement, 'signal'>): boolean {
    return this.isRunning && this.#mayWrite && !this.#isLast(statement)
  }

  /**
   * Runs a statement instead of the previous one. One that only reads is sent again if the service refused it before it began. After a
   * broken connection or the answer of a proxy nothing is sent again: agents and models may have been asked.
   *
   * @returns how this statement ended, even if another one runs in its place by then
   */
  async run(statement: Omit<Statement, 'signal'>): Promise<Ending> {
    this.#aborting?.abort()
    const aborting = new AbortController()
    this.#aborting = aborting
    const { signal: aborted } = aborting
    const isOver = () => aborted.aborted
    const since = performance.now()
    const isWriting = doesWrite(statement)
    /** Nobody knows what became of a statement that writes without its answer. */
    const asFarAsKnown = (ended: Ending): Ending => (isWriting && ended !== 'done' ? 'unanswered' : ended)
    this.#mayWrite = isWriting
    this.statement.value = statement
    this.outcome.value = { type: 'running', since }
    for (let failures = 0; ; failures++) {
      const ended = await this.#ask(statement, since, aborting).catch(asApiError)
      if (!(ended instanceof ApiError)) return asFarAsKnown(ended)
      if (isOver()) return asFarAsKnown('cancelled')
      if (isWriting || failures === againMax || ended.status !== 503 || !unbegun.has(ended.code)) {
        this.outcome.value = { type: 'error', error: isWriting ? unanswered(ended) : ended }
        return isUnanswered(ended) ? asFarAsKnown('refused') : 'refused'
      }
      this.outcome.value = { type: 'running', since, isWaiting: true }
      await rest(pauseMs(failures), aborted)
      await untilReachable(aborted)
      if (isOver()) return asFarAsKnown('cancelled')
      this.outcome.value = { type: 'running', since }
    }
  }

  /** Sends a statement, and reads its answer. @throws why there is no answer, before its first row */
  async #ask(statement: Omit<Statement, 'signal'>, since: number, aborting: AbortController): Promise<Ending> {
    const answer = await run({ ...statement, signal: aborting.signal }, ofStatement)
    if (answer.type === 'table') return this.#read(new RowStore(answer.columns), answer.pieces, since, aborting, statement)
    this.outcome.value = { type: 'ok', affected: answer.affected, ms: performance.now() - since }
    return 'done'
  }

  async #read(
    store: RowStore,
    pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
    since: number,
    aborting: AbortController,
    { at, dryRun: isDryRun = false }: Pick<Statement, 'at' | 'dryRun'>,
  ): Promise<Ending> {
    const summaries = new Summaries(store.columns)
    this.#summaries = summaries
    let version = 0
    let firstMs = 0
    let drawn = -Infinity
    const draw = (isWhole: boolean, isCut: boolean, error?: ApiError) => {
      const ms = performance.now() - since
      firstMs ||= ms
      version += 1
      this.outcome.value = { type: 'table', store, at, version, isWhole, isCut, isDryRun, firstMs, ms, ...(error && { error }) }
    }
    try {
      for await (const piece of pieces) {
        if (aborting.signal.aborted) return 'cancelled'
        summaries.add(store.add(piece))
        if (performance.now() - drawn > drawEveryMs) {
          draw(false, false)
          await new Promise((resolve) => setTimeout(resolve))
          // The page was drawn meanwhile. However long that takes, rows are read for some time before it is drawn again.
          drawn = performance.now()
        }
        if (store.isFull) {
          aborting.abort()
          draw(true, true)
          return 'done'
        }
      }
    } catch (error) {
      // If rows have arrived, they stay; otherwise the failure is shown.
      if (aborting.signal.aborted || store.total === 0 || isDryRun) throw error
      draw(true, true, asApiError(error))
      return 'refused'
    }
    if (aborting.signal.aborted) return 'cancelled'
    draw(true, false)
    return 'done'
  }
}
