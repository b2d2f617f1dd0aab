import type { Logger } from 'pino'
import { HeadFile } from './audit/head-file.js'
import { headSigner } from './audit/head-key.js'
import { Heads } from './audit/heads.js'
import { TrustedClock } from './basics/trusted-clock.js'
import { opened } from './basics/undo.js'
import { Blobs } from './files/blobs.js'
import { MissingBlobs } from './files/missing-blobs.js'
import { removeUnnamedBlobs, watchNamedBlobs } from './files/unnamed-blobs.js'
import { systemOrigin } from './log/contract/origins.js'
import type { Log } from './log/contract/log.js'
import { SqliteLog } from './log/sqlite/sqlite-log.js'
import type { Metrics } from './observe/metrics.js'
import { ObservedLedger } from './observe/observed.js'
import type { Config } from './setup/config.js'
import { lockDataDirectory, prepareDataDirectory } from './setup/data-directory.js'
import { masterKeys } from './vault/key-files.js'
import { Vault } from './vault/vault.js'

/** The storage of the service: the log and its ledger, the blobs, and the signed heads. */
export type Storage = Awaited<ReturnType<typeof openStorage>>

type Options = { config: Config; logger: Logger; metrics: Metrics }

/** Locks the data directory and opens what is in it. @throws ConfigError that says what to change */
export const openStorage = ({ config, logger, metrics }: Options) =>
  opened(async (undo) => {
    const paths = prepareDataDirectory(config.dataDirectory)
    undo(lockDataDirectory(paths))
    const vault = new Vault(...masterKeys(paths, config.masterKeys))
    const log = new SqliteLog({ file: paths.log, vault, onBatch: (batch) => metrics.batch(batch) })
    undo(() => log.close())
    const ledger = new ObservedLedger(log, vault, metrics)
    const heads = new Heads(log, await headSigner(paths, config.headKey, log))
    const headFile = config.headFile && new HeadFile({ ...config.headFile, log, heads, logger })
    // Compared before anything is written: a kept head may cover events that are missing in an older copy of the log.
    await headFile?.compare()
    // It stops after everything that writes events.
    undo(() => headFile?.stop())
    const clock = new TrustedClock({ file: paths.clock, recordedAt: () => log.recordedAt() })
    clock.start()
    undo(() => clock.stop())
    const blobs = new Blobs(paths.blobs)
    undo(watchNamedBlobs(log, blobs))
    const missingBlobs = new MissingBlobs({ log, blobs, logger })
    undo(() => missingBlobs.stop())

    /** The first write of this run, made after the tables were found to agree with the log. */
    const begin = async () => {
      await log.forgetOldAnswers(clock.now())
      await ledger.execute({ type: 'CreateProject', data: { project: config.defaultProject, unlessExists: true } }, systemOrigin)
      await headFile?.start()
      missingBlobs.start()
    }
    return { paths, vault, log, ledger, heads, headFile, clock, blobs, missingBlobs, begin }
  })

/** Removes in the background the blobs that no event names, left by interrupted writes. Returns a function that ends it. */
export const tidyBlobs = ({ log, blobs }: { log: Log; blobs: Blobs }, logger: Logger): (() => Promise<void>) => {
  const stopping = new AbortController()
  const tidied = removeUnnamedBlobs(log, blobs, stopping.signal).then(
    (removed) => removed > 0 && logger.info({ removed }, 'removed blobs that no event names'),
    (err: unknown) => !stopping.signal.aborted && logger.warn({ err }, 'blobs that no event names could not be removed'),
  )
  return async () => {
    stopping.abort()
    await tidied
  }
}
