import type { SqlProcess } from './sql-process/sql-process.js'
import { Exporter } from './archive/scheduled-export.js'
import { opened, undoTogether } from './basics/undo.js'
import { Erasures } from './erasure/erasures.js'
import { keepFor } from './erasure/retention.js'
import { systemClock } from './jobs/clock.js'
import { JobScheduler } from './jobs/scheduler.js'
import { leasesWhile } from './log/contract/leases.js'
import type { AgeingKind } from './log/contract/log.js'
import { SingletonTask } from './log/tasks/singleton-task.js'
import type { KnowledgeParts } from './open-knowledge.js'
import type { Models } from './open-models.js'
import type { Sql } from './open-sql.js'
import type { Storage } from './open-storage.js'
import { KeyRotation } from './key-rotation/key-rotation.js'
import type { Logger } from './basics/logger.js'
import type { Config } from './setup/config.js'

/** The background work of the service: jobs, erasures and key rotation. */
export type Housekeeping = Awaited<ReturnType<typeof openHousekeeping>>

type Options = {
  config: Config
  logger: Logger
  storage: Storage
  sqlProcess: SqlProcess
  knowledge: KnowledgeParts
  models: Models
  sql: Sql
}

/**
 * Opens jobs, erasures, the rotation of the master key, and the export of the history. It returns when this node has no erased blob, and no
 * data that other nodes erased; `begin` continues unfinished work.
 */
export const openHousekeeping = ({ config, logger, storage, sqlProcess, knowledge, models, sql }: Options) =>
  opened(async (undo) => {
    const { ledger, leases, log, vault, blobs, paths, clock } = storage
    const jobs = new JobScheduler({
      ...{ ledger, log, engine: sql.sql, clock: { ...systemClock, now: () => log.now() }, logger },
      leases: leasesWhile(leases, () => sqlProcess.isReady),
    })
    const erasures = new Erasures({
      ...{ ledger, log, blobs, wipes: storage.peers?.wipes },
      purge: (erasedAt) => sqlProcess.purge(erasedAt),
      purgeKnowledge: () => knowledge.purge(),
      // Trainings and data checks have the rows of their queries in files.
      purgeWork: async () => {
        await Promise.all([models.trainings.purge(), sql.dataChecks.purge()])
      },
    })
    const rotation = new KeyRotation({
      ...{ log, ledger, vault, paths, peers: storage.peers },
      isKeyGiven: config.masterKeys.length > 0,
      tellReaders: () => sqlProcess.learnKeys(),
      onFailed: (err) =>
        logger.error({ err }, 'the master key could not be replaced; mindledger rotate-key, or the next start, goes on with it'),
    })
    undo(() => rotation.stop())
    // Runs of jobs and erasures end at the same time, each within the time limit of a stop.
    undo(() => undoTogether([() => jobs.stop(), () => erasures.stop()]))
    const { dataDirectory, headKey, exports } = config
    const exporter = exports && new Exporter({ ...exports, dataDirectory, headKey, log, logger })
    // Data that other nodes erased meanwhile, and erased blobs that a crash left, are gone before anything is served.
    await erasures.follow((err) => logger.error({ err }, 'erased data could not be removed from the files; trying again'))

    /** Continues a rotation and an erasure of an earlier run of the service, and begins the work in the background. */
    const begin = async ({ background }: { background: boolean }) => {
      await rotation.resume()
      void erasures.resume().catch((err: unknown) => logger.error({ err }, 'an erasure that was cut off could not be finished'))
      if (!background) return
      await jobs.start()
      undo(storage.tidyBlobs())
      const keep = async (what: AgeingKind, ms: number | undefined) => {
        if (ms === undefined) return
        const task = new SingletonTask({
          ...{ leases, name: `retention:${what}` },
          begin: () => keepFor(ms, { what, erasures, clock, logger }),
          onFailed: (err) => logger.error({ err }, 'data past its retention could not be erased; trying again later'),
        })
        undo(() => task.stop())
        await task.start()
      }
      await keep('rows', config.predictionRetentionMs)
      await keep('answers', config.answerRetentionMs)
      if (exporter) await exportAs(exporter)
    }
    /** Only one node exports, because the nodes may share the folder. */
    const exportAs = async (one: Exporter) => {
      const task = new SingletonTask({
        ...{ leases, name: 'export' },
        begin: (_, tried) => {
          one.start(tried)
          return () => one.stop()
        },
        onFailed: (err) => logger.error({ err }, 'the history is not exported'),
      })
      undo(() => task.stop())
      await task.start()
    }
    return { jobs, erasures, rotation, exporter, begin }
  })
