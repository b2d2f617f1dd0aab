import { limits } from '../../basics/limits.js'
import type { ServedLog } from '../contract/log.js'

type Options = {
  /** The time in milliseconds since 1970. */
  now: () => number
  onFailed: (error: unknown) => void
  everyMs?: number
}

/**
 * Forgets kept answers that are too old for a retry, now and from time to time: some in each batch, so that other work comes in between.
 * Returns the function that ends it.
 *
 * @example const stop = forgetOldAnswers(log, { now: Date.now, onFailed }); await stop()
 */
export const forgetOldAnswers = (
  log: Pick<ServedLog, 'forgetSomeAnswers'>,
  { now, onFailed, everyMs = limits.answersForgetIntervalMs }: Options,
): (() => Promise<void>) => {
  let isStopping = false
  let working = Promise.resolve()
  const forget = async () => {
    const upTo = now() - limits.idempotencyMaxAgeMs
    while (!isStopping && (await log.forgetSomeAnswers(upTo)));
  }
  const begin = () => {
    working = working.then(forget).catch(onFailed)
  }
  begin()
  const timer = setInterval(begin, everyMs)
  timer.unref()
  return async () => {
    isStopping = true
    clearInterval(timer)
    await working
  }
}
