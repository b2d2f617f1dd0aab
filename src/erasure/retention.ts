import { limits } from '../basics/limits.js'
import type { AgeingKind } from '../log/contract/log.js'
import { systemOrigin } from '../log/contract/origins.js'
import type { TrustedClock } from '../basics/trusted-clock.js'
import type { Logger } from '../basics/logger.js'
import type { Erasures } from './erasures.js'

const words: Readonly<Record<AgeingKind, string>> = { rows: 'rows of predictions', answers: 'answers of agents' }

type Options = {
  what: AgeingKind
  erasures: Pick<Erasures, 'eraseOlder'>
  clock: Pick<TrustedClock, 'now'>
  logger: Pick<Logger, 'info' | 'error'>
  everyMs?: number
}

/**
 * Erases rows of predictions, or answers of agents, that are older than a time, now and from then on. Returns a function that ends this;
 * stopping `erasures` ends an erasure that is running then.
 *
 * @example const stop = keepFor(30 * 86_400_000, { what: 'rows', erasures, clock, logger }); stop()
 */
export const keepFor = (ms: number, { what, erasures, clock, logger, everyMs = limits.retentionIntervalMs }: Options): (() => void) => {
  let isLooking = false
  const look = async (): Promise<void> => {
    // The first erasure may take longer than an interval. A later one erases what this one would have.
    if (isLooking) return
    isLooking = true
    try {
      const { rows, positions } = await erasures.eraseOlder(what, new Date(clock.now() - ms), systemOrigin)
      if (positions.length > 0) logger.info({ rows, positions }, `erased ${words[what]} that were kept long enough`)
    } catch (err) {
      logger.error({ err }, `${words[what]} that were kept long enough could not be erased; trying again later`)
    }
    isLooking = false
  }
  void look()
  // The interval is limited, so that rows with a maximum age of an hour do not stay for two.
  const timer = setInterval(() => void look(), Math.min(everyMs, Math.max(1_000, ms / 2)))
  return () => clearInterval(timer)
}
