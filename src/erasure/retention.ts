import { limits } from '../basics/limits.js'
import { systemOrigin } from '../log/contract/origins.js'
import type { TrustedClock } from '../basics/trusted-clock.js'
import type { Erasures } from './erasures.js'

type Logger = { info: (fields: object, message: string) => void; error: (fields: object, message: string) => void }

type Options = { erasures: Erasures; clock: Pick<TrustedClock, 'now'>; logger: Logger; everyMs?: number }

/**
 * Erases the rows of predictions that are older than a time, at once and from then on. Returns a function that ends this; `erasures`
 * itself ends the one that is under way then.
 *
 * @example const stop = keepFor(30 * 86_400_000, { erasures, clock, logger }); stop()
 */
export const keepFor = (ms: number, { erasures, clock, logger, everyMs = limits.retentionIntervalMs }: Options): (() => void) => {
  const look = () =>
    erasures.eraseOlderRows(new Date(clock.now() - ms), systemOrigin).then(
      ({ rows, positions }) =>
        positions.length > 0 && logger.info({ rows, positions }, 'erased rows of predictions that were kept long enough'),
      (err: unknown) => logger.error({ err }, 'rows of predictions that were kept long enough could not be erased; trying again later'),
    )
  void look()
  // A row kept for an hour must not stay for two.
  const timer = setInterval(() => void look(), Math.min(everyMs, Math.max(1_000, ms / 2)))
  return () => clearInterval(timer)
}
