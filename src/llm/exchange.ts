import { setTimeout as sleep } from 'node:timers/promises'
import { abortWith, over } from '../basics/concurrency/bounded-waits.js'
import { growingWait, type GrowingWaits } from '../basics/concurrency/growing-wait.js'
import { isProblem } from '../basics/errors.js'
import type { OnSent } from './contract/language-model.js'
import { callErrorOf, explainFailure, isLost, isPassing, llmFailed, waitAskedFor, type Exchange } from './failures.js'

export type ExchangeLimits = { totalMs: number; retries: number; retryWaits: GrowingWaits; retryAfterMaxMs: number }

/** A time in which an exchange has to end, and the means to end it. */
export class Stop {
  readonly #own = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #leave: () => void

  constructor(
    private readonly caller: AbortSignal,
    { totalMs }: Pick<ExchangeLimits, 'totalMs'>,
    { host }: Pick<Exchange, 'host'>,
  ) {
    this.#timer = setTimeout(
      () =>
        this.#own.abort(
          llmFailed('No answer in time', `${host} did not end its answer within ${totalMs} ms`, 'Ask for less, or take a faster model.'),
        ),
      totalMs,
    )
    this.#leave = abortWith(this.#own, [caller])
  }

  get signal(): AbortSignal {
    return this.#own.signal
  }

  /** Why a stopped exchange broke off: the caller's reason, or the end of its time. */
  reason(error: unknown): unknown {
    if (this.caller.aborted) return this.caller.reason
    return this.signal.aborted ? this.signal.reason : error
  }

  /** Closes everything that is still open. */
  end(): void {
    clearTimeout(this.#timer)
    this.#leave()
    this.#own.abort(over)
  }
}

/** How long to wait before a request is sent again; undefined if it is not. */
const waitAfter = (error: unknown, sent: number, { retries, retryWaits, retryAfterMaxMs }: ExchangeLimits): number | undefined => {
  const call = callErrorOf(error)
  if (sent > retries || !(call ? isPassing(call) : isLost(error))) return undefined
  const asked = call && waitAskedFor(call.headers)
  if (asked === undefined) return growingWait(sent, retryWaits)
  return asked <= retryAfterMaxMs ? asked : undefined
}

/** Whether an answer had begun that cannot be read to its end: it used tokens. */
const hadBegun = (error: unknown): boolean => {
  const call = callErrorOf(error)
  return call !== undefined && call.status >= 200 && call.status <= 299
}

type RetryOptions<T> = {
  ask: () => Promise<T>
  learns: (error: unknown) => boolean
  exchange: Exchange
  stop: Stop
  most: ExchangeLimits
  onSent: OnSent | undefined
}

/**
 * Sends a request, and again after answers that pass: 429 and 5xx, as late as they ask for; after a connection that was lost before any
 * answer; and after answers that refuse a parameter it can go without.
 *
 * @throws Problem llm_failed, egress_refused; why it was stopped
 */
export const askAgain = async <T>({ ask, learns, exchange, stop, most, onSent }: RetryOptions<T>): Promise<T> => {
  for (let sent = 1; ; sent += 1) {
    const tellUnanswered = onSent?.()
    try {
      return await ask()
    } catch (error) {
      // A model may have begun an answer that nobody waited for.
      if (stop.signal.aborted) throw stop.reason(error)
      if (!hadBegun(error)) tellUnanswered?.()
      if (learns(error)) continue
      const wait = waitAfter(error, sent, most)
      if (wait === undefined) throw isProblem(error) && error.code === 'busy' ? error : explainFailure(error, exchange)
      await sleep(wait, undefined, { signal: stop.signal }).catch((late: unknown) => {
        throw stop.reason(late)
      })
    }
  }
}
