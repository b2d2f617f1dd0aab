import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { Aside } from './analytics/aside.js'
import { HeadFile } from './audit/head-file.js'
import { headSigner } from './audit/head-key.js'
import { Heads } from './audit/heads.js'
import { Analytics } from './analytics/supervisor.js'
import type { Config } from './setup/config.js'
import { Erasures } from './erasure/erasures.js'
import { keepFor } from './erasure/retention.js'
import { Blobs } from './files/blobs.js'
import { MissingBlobs } from './files/missing-blobs.js'
import { removeUnnamedBlobs, watchNamedBlobs } from './files/unnamed-blobs.js'
import { appOf } from './http/all-routes.js'
import { isTrustedProxy } from './http/protocol/client-address.js'
import { EventStreams } from './http/reads/event-stream.js'
import { addressOf, createHttpServer, listen, localAddressOf, stopListening } from './http/server/server.js'
import { systemClock } from './jobs/clock.js'
import { JobService } from './jobs/job-service.js'
import { limits } from './basics/limits.js'
import { lockDataDirectory, olderLog, prepareDataDirectory, type DataPaths } from './setup/data-directory.js'
import { EventFeed } from './log/feed/event-feed.js'
import { systemOrigin } from './log/contract/origins.js'
import type { Head, Log } from './log/contract/log.js'
import { noteServerAddress } from './setup/server-address.js'
import { SqliteLog } from './log/sqlite/sqlite-log.js'
import { DataChecks } from './models/training/data-checks.js'
import { PredictionRecorder } from './models/serving/recorder.js'
import { Trainer } from './models/training/trainer.js'
import { TrainingService } from './models/training/training-service.js'
import { Metrics } from './observe/metrics.js'
import { ObservedLedger, observedAnalytics } from './observe/observed.js'
import { askNondeterminism } from './sql/facade/ask-nondeterminism.js'
import { askRows } from './sql/facade/ask-rows.js'
import { SqlEngine } from './sql/facade/execute.js'
import { TableWriter } from './sql/facade/table-writer.js'
import { TrustedClock } from './basics/trusted-clock.js'
import { undoAll } from './basics/undo.js'
import { masterKeys } from './vault/key-files.js'
import { KeyRotation } from './rotation/key-rotation.js'
import { Vault } from './vault/vault.js'
import { readVersion } from './setup/version.js'

/** A running service. */
export type Service = {
  url: string
  head: () => Promise<Head>
  sql: SqlEngine
  log: Log
  analyticsPid: () => number | undefined
  /** Answers what is under way, then ends every process of the service. */
  close: () => Promise<void>
}

/** Removes in the background what earlier runs of the service left half-done. Gives what ends it. */
const tidyBlobs = (log: Log, blobs: Blobs, logger: Logger): (() => Promise<void>) => {
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

/**
 * Puts the service together and starts it. The only place that knows every part.
 *
 * @example const service = await startService(readConfig(process.env), pino()); await service.close()
 * @throws ConfigError that says what to change
 */
export const startService = async (config: Config, logger: Logger): Promise<Service> => {
  const paths = prepareDataDirectory(config.dataDirectory)
  const undo: (() => unknown)[] = [lockDataDirectory(paths)]
  try {
    return await assemble(config, logger, paths, undo)
  } catch (error) {
    await undoAll(undo).catch((err: unknown) => logger.error({ err }, 'the start failed, and not all of it could be undone'))
    throw error
  }
}

const assemble = async (config: Config, logger: Logger, paths: DataPaths, undo: (() => unknown)[]): Promise<Service> => {
  const version = readVersion()
  const vault = new Vault(...masterKeys(paths, config.masterKeys))
  const metrics = new Metrics()
  const log = new SqliteLog({ file: paths.log, vault, onBatch: (batch) => metrics.batch(batch) })
  undo.push(() => log.close())
  const ledger = new ObservedLedger(log, vault, metrics)
  const heads = new Heads(log, await headSigner(paths, config.headKey, log))
  const headFile = config.headFile && new HeadFile({ ...config.headFile, log, heads, logger })
  // Before anything is written: tables and kept heads may know events that an older copy of the log does not have.
  await headFile?.compare()
  const analytics = await Analytics.start({
    dataDirectory: paths.root,
    masterKeys: () => vault.keys(),
    onForeign: (reason) =>
      log.refuseWrites({ cause: `the log is an older copy, or another one: ${reason}`, hint: olderLog(reason, 'delete analytics.duckdb') }),
    logger,
  })
  undo.push(() => analytics.stop())
  const clock = new TrustedClock({ file: paths.clock, recordedAt: () => log.recordedAt() })
  clock.start()
  undo.push(() => clock.stop())
  log.forgetOldAnswers(clock.now())
  await ledger.execute({ type: 'CreateProject', data: { project: config.defaultProject, unlessExists: true } }, systemOrigin)
  await headFile?.start()
  // After all that writes events.
  undo.push(() => headFile?.stop())

  const blobs = new Blobs(paths.blobs)
  undo.push(watchNamedBlobs(log, blobs))
  const missingBlobs = new MissingBlobs({ log, blobs, logger })
  missingBlobs.start()
  undo.push(() => missingBlobs.stop())
  const rotation = new KeyRotation({
    log,
    vault,
    paths,
    isKeyGiven: config.masterKeys.length > 0,
    tellReaders: () => analytics.learnKeys(),
    onFailed: (err) => logger.error({ err }, 'the master key could not be replaced; the next start goes on with it'),
  })
  undo.push(() => rotation.stop())
  const select = askRows(analytics, config.defaultProject)
  const trainer = new Trainer()
  const trainings = new TrainingService({
    ledger,
    blobs,
    trainer,
    temporary: join(paths.temporary, 'trainings'),
    logger,
    select,
    chances: askNondeterminism(analytics, config.defaultProject),
  })
  undo.push(() => trainings.stop())
  const recorder = new PredictionRecorder(log, vault)
  const tables = new TableWriter({ ledger, blobs, directory: paths.tables })
  const answers = new Aside(analytics, { logger })
  undo.push(() => answers.stop())
  const sql = new SqlEngine({
    ledger,
    analytics: observedAnalytics(answers, metrics),
    trainings,
    recorder,
    tables,
    defaultProject: config.defaultProject,
    version,
  })
  const jobs = new JobService({ ledger, engine: sql, clock: systemClock, logger })
  undo.push(() => jobs.stop())

  const dataChecks = new DataChecks({
    ...{ log, blobs, trainer, select, temporary: join(paths.temporary, 'checks') },
    resourcesAt: (position) => sql.reader.resourcesAt(position),
  })
  undo.push(() => dataChecks.stop())
  const erasures = new Erasures({ log, vault, blobs, purge: (upTo) => analytics.purge(upTo) })
  undo.push(() => erasures.stop())

  const feed = await EventFeed.of(log)
  undo.push(() => feed.close())
  const streams = new EventStreams(feed)

  const instance = randomUUID()
  const app = appOf({
    config,
    paths,
    logger,
    version,
    metrics,
    ledger,
    blobs,
    analytics,
    trainings,
    dataChecks,
    recorder,
    sql,
    erasures,
    feed,
    streams,
    heads,
    headFile,
    clock,
    missingBlobs,
    rotation,
    instance,
  })
  const server = createHttpServer(app, { ...limits, isProxy: (address) => isTrustedProxy(app, address) })
  const address = await listen(server, config, logger)
  // Requests, runs of jobs and erasures end side by side, each in the time that a stop may take.
  undo.push(() => {
    // Streams end only when they are told to, and a server waits for all its answers.
    streams.stop()
    return Promise.all([stopListening(server), jobs.stop(), erasures.stop()])
  })
  try {
    undo.push(noteServerAddress(paths, { url: localAddressOf(address), instance }))
  } catch (err) {
    logger.warn({ err }, 'the address could not be written into the data directory: commands need --url to find this server')
  }
  await rotation.resume()
  await trainings.resume()
  await jobs.start()
  undo.push(tidyBlobs(log, blobs, logger))
  void erasures.resume().catch((err: unknown) => logger.error({ err }, 'an erasure that was cut off could not be finished'))
  if (config.predictionRetentionMs !== undefined) undo.push(keepFor(config.predictionRetentionMs, { erasures, clock, logger }))

  let closing: Promise<void> | undefined
  return {
    url: addressOf(address),
    head: () => log.head(),
    sql,
    log,
    analyticsPid: () => analytics.pid,
    close: () => (closing ??= undoAll(undo)),
  }
}
