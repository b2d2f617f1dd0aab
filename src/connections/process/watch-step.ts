import { Problem } from '../../basics/errors.js'
import { inTime } from '../../basics/concurrency/bounded-waits.js'
import { limits } from '../../basics/limits.js'
import type { DatabaseSession } from '../engines/contract/engine.js'
import type { SessionBytes } from './held-bytes.js'

const lookEveryMs = 20

/**
 * The problem of work that was ended after its time. `limit` names the limit.
 *
 * @example tooLong('The statement', limits.connectionStatementTimeoutMs, 'connectionStatementTimeoutMs')
 */
export const tooLong = (what: string, timeoutMs: number, limit: string): Problem =>
  new Problem('query_limit', 'The database took too long', `${what} took longer than ${timeoutMs} ms (${limit})`, {
    hint: 'Ask for fewer rows, or let the database compute less.',
  })

const tooMuch = (): Problem =>
  new Problem(
    'query_limit',
    'The database sends too much',
    `One step of the answer has more than ${limits.connectionReadMaxBytes} bytes (connectionReadMaxBytes)`,
    {
      hint: 'Leave out columns with very long values.',
    },
  )

/** All statements together hold too many bytes, and this one has the largest step. */
export const tooMuchTogether = (): Problem =>
  new Problem(
    'query_limit',
    'The databases send too much',
    `Connected databases have sent more than ${limits.connectionsReadMaxBytes} bytes at once (connectionsReadMaxBytes), and this statement has the most of them`,
    { hint: 'Leave out columns with very long values, or try again when fewer statements are under way.' },
  )

export type Watch = { session: DatabaseSession; holding: SessionBytes; timeoutMs: number; what: string; limit: string; signal: AbortSignal }

/**
 * Waits for a step of a session. The wait ends when its time is over, when the step or all sessions together have too many bytes, or when
 * the signal aborts. The step itself goes on then: the caller must end the session. A session that sends too much is ended here.
 *
 * @throws Problem query_limit, the reason of the signal, and the errors of the step
 */
export const watchStep = async <T>(work: Promise<T>, { session, holding, timeoutMs, what, limit, signal }: Watch): Promise<T> => {
  const from = session.received
  // The result of a step is ignored when the wait for it has ended.
  work.catch(() => undefined)
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    const timer = setTimeout(() => reject(tooLong(what, timeoutMs, limit)), timeoutMs)
    const look = setInterval(() => {
      const isTooMuch = session.received - from > limits.connectionReadMaxBytes
      if (!isTooMuch && !holding.isTooMuch) return
      reject(isTooMuch ? tooMuch() : tooMuchTogether())
      session.destroy()
    }, lookEveryMs)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      clearInterval(look)
      signal.removeEventListener('abort', stop)
    })
  })
}

/**
 * The same for work that waits for a statement to begin. If the wait ends before the work, the statement is cancelled in the database, and
 * has a moment to end there: a database that computes, or waits for a lock, does not notice that a session was closed.
 *
 * @throws the same
 */
export const watchOrCancel = async <T>(work: Promise<T>, watch: Watch): Promise<T> => {
  const settled = work.then(
    () => true,
    () => true,
  )
  try {
    return await watchStep(work, watch)
  } catch (error) {
    if (!(await inTime(settled, 0, false))) {
      await inTime(
        watch.session.cancel().catch(() => undefined),
        limits.connectionCancelWaitMs,
        undefined,
      )
      await inTime(settled, limits.connectionCancelWaitMs, true)
    }
    throw error
  }
}
