import type { Logger } from 'pino'
import type { Analytics } from './analytics/supervisor.js'
import { opened } from './basics/undo.js'
import { Erasures } from './erasure/erasures.js'
import { keepFor } from './erasure/retention.js'
import { systemClock } from './jobs/clock.js'
import { JobService } from './jobs/job-service.js'
import { tidyBlobs, type Storage } from './open-storage.js'
import { KeyRotation } from './rotation/key-rotation.js'
import type { Config } from './setup/config.js'
import type { SqlEngine } from './sql/facade/execute.js'

/** What the service does by itself: jobs, erasures, the rotation of keys. */
export type Housekeeping = Awaited<ReturnType<typeof openHousekeeping>>

type Options = { config: Config; logger: Logger; storage: Storage; analytics: Analytics; sql: SqlEngine }

export const openHousekeeping = ({ config, logger, storage, analytics, sql }: Options) =>
  opened((undo) => {
    const { ledger, log, vault, blobs, paths, clock } = storage
    const jobs = new JobService({ ledger, engine: sql, clock: systemClock, logger })
    const erasures = new Erasures({ ledger, blobs, purge: (upTo) => analytics.purge(upTo) })
    const rotation = new KeyRotation({
      ...{ log, ledger, vault, paths },
      isKeyGiven: config.masterKeys.length > 0,
      tellReaders: () => analytics.learnKeys(),
      onFailed: (err) => logger.error({ err }, 'the master key could not be replaced; the next start goes on with it'),
    })
    undo(() => rotation.stop())
    // Runs of jobs and erasures end side by side, each in the time that a stop may take.
    undo(() => Promise.all([jobs.stop(), erasures.stop()]))

    /** Goes on with what an earlier run of the service left, and begins. */
    const begin = async () => {
      await rotation.resume()
      await jobs.start()
      undo(tidyBlobs(storage, logger))
      void erasures.resume().catch((err: unknown) => logger.error({ err }, 'an erasure that was cut off could not be finished'))
      if (config.predictionRetentionMs !== undefined) undo(keepFor(config.predictionRetentionMs, { erasures, clock, logger }))
    }
    return { jobs, erasures, rotation, begin }
  })
