import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Session } from '../engines/contract/engine.js'

const lookEveryMs = 20

export const tooLong = (what: string, timeoutMs: number): Problem =>
  new Problem('query_limit', 'The database took too long', `${what} took longer than ${timeoutMs} ms`, {
    hint: 'Ask for fewer rows, or let the database compute less.',
  })

const tooMuch = (): Problem =>
  new Problem('query_limit', 'The database sends too much', `One step of the answer has more than ${limits.connectionReadMaxBytes} bytes`, {
    hint: 'Leave out columns with very long values.',
  })

export type Watch = { session: Session; timeoutMs: number; what: string; signal: AbortSignal }

/**
 * Waits for a step of a session, but not longer than its time, not beyond the bytes of a step, and not when nobody waits any more. The
 * step itself goes on then: whoever watches ends the session.
 *
 * @throws Problem query_limit, the reason of the signal, and what the step throws
 */
export const watched = async <T>(work: Promise<T>, { session, timeoutMs, what, signal }: Watch): Promise<T> => {
  const from = session.received
  // What comes of a step that nobody waits for any more is of no interest.
  work.catch(() => undefined)
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    const timer = setTimeout(() => reject(tooLong(what, timeoutMs)), timeoutMs)
    const look = setInterval(() => {
      if (session.received - from > limits.connectionReadMaxBytes) reject(tooMuch())
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
