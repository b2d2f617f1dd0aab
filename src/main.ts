import { join } from 'node:path'
import type { Express } from 'express'
import type { Logger } from 'pino'
import { Aside } from './analytics/aside.js'
import { HeadFile } from './audit/head-file.js'
import { headSigner } from './audit/head-key.js'
import { Heads } from './audit/heads.js'
import { Analytics } from './analytics/supervisor.js'
import type { Ledger } from './commands/ledger.js'
import { isLoopback, type Config } from './config.js'
import { Erasures } from './erasure/erasures.js'
import { keepFor } from './erasure/retention.js'
import { Blobs } from './files/blobs.js'
import { Ingester } from './files/ingest.js'
import { removeUnnamedBlobs, watchNamedBlobs } from './files/unnamed-blobs.js'
import { agentRoutes } from './http/agents.js'
import { createApp } from './http/app.js'
import { authRoutes } from './http/auth.js'
import { chatbotRoutes } from './http/chatbots.js'
import { configRoutes } from './http/config.js'
import { databaseRoutes } from './http/databases.js'
import { EventStreams } from './http/event-stream.js'
import { eventRoutes } from './http/events.js'
import { erasureRoutes } from './http/erasures.js'
import { fileRoutes } from './http/files.js'
import { handlerRoutes } from './http/handlers.js'
import { historyRoutes } from './http/history.js'
import { jobRoutes } from './http/jobs.js'
import { modelRoutes } from './http/models.js'
import { observeRoutes } from './http/observe.js'
import { predictRoutes } from './http/predict.js'
import { exportRoutes } from './http/export.js'
import { proofRoutes } from './http/proofs.js'
import { projectRoutes } from './http/projects.js'
import { readingOf } from './http/reading.js'
import { Records } from './http/records.js'
import { addressOf, createHttpServer, listen, stopListening } from './http/server.js'
import { Sessions } from './http/sessions.js'
import { rollbackRoutes } from './http/rollbacks.js'
import { rotationRoutes } from './http/rotations.js'
import { skillRoutes } from './http/skills.js'
import { sqlUtilityRoutes } from './http/sql-utilities.js'
import { sqlRoutes } from './http/sql.js'
import { statusRoutes, type About } from './http/status.js'
import { tableCopyRoutes } from './http/table-copies.js'
import { tableRoutes } from './http/tables.js'
import { treeRoutes } from './http/tree.js'
import { viewRoutes, type CheckView } from './http/views.js'
import { systemClock } from './jobs/clock.js'
import { JobService } from './jobs/job-service.js'
import { limits } from './limits.js'
import { lockDataDirectory, prepareDataDirectory, type DataPaths } from './log/data-directory.js'
import { EventFeed } from './log/event-feed.js'
import { Histories } from './log/history.js'
import type { Head, Log, Origin } from './log/log.js'
import { SqliteLog } from './log/sqlite/sqlite-log.js'
import { ModelStore } from './models/model-store.js'
import { PredictionRecorder } from './models/recorder.js'
import { Trainer } from './models/trainer.js'
import { TrainingService } from './models/training-service.js'
import { keptDiskUse } from './observe/disk-use.js'
import { Metrics } from './observe/metrics.js'
import { ObservedLedger, observedAnalytics } from './observe/observed.js'
import { readiness } from './observe/readiness.js'
import { SqlEngine } from './sql/execute.js'
import { TableWriter } from './sql/table-writer.js'
import { undoAll } from './undo.js'
import { masterKeys } from './vault/key-files.js'
import { KeyRotation } from './vault/rotation.js'
import { Vault } from './vault/vault.js'
import { readVersion } from './version.js'

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

const systemOrigin: Origin = { actor: 'system', source: 'system', request: null, correlation: null, causation: null }

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
  await ledger.execute({ type: 'CreateProject', data: { project: config.defaultProject, unlessExists: true } }, systemOrigin)
  const heads = new Heads(log, await headSigner(paths, config.headKey, log))
  const headFile = config.headFile && new HeadFile({ ...config.headFile, log, heads, logger })
  await headFile?.start()
  // After all that writes events.
  undo.push(() => headFile?.stop())

  const blobs = new Blobs(paths.blobs)
  undo.push(watchNamedBlobs(log, blobs))
  const analytics = await Analytics.start({ dataDirectory: paths.root, masterKeys: () => vault.keys(), logger })
  undo.push(() => analytics.stop())
  const rotation = new KeyRotation({
    log,
    vault,
    paths,
    isKeyGiven: config.masterKeys.length > 0,
    tellReaders: () => analytics.learnKeys(),
    onFailed: (err) => logger.error({ err }, 'the master key could not be replaced; the next start goes on with it'),
  })
  undo.push(() => rotation.stop())
  const trainings = new TrainingService({
    ledger,
    blobs,
    trainer: new Trainer(),
    temporary: join(paths.temporary, 'trainings'),
    logger,
    select: async (query, signal) => {
      const { columns, rows } = await analytics.query({ ...query, defaultProject: config.defaultProject }, { signal })
      return { columns, chunks: rows }
    },
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

  const erasures = new Erasures({ log, vault, blobs, purge: (upTo) => analytics.purge(upTo) })
  undo.push(() => erasures.stop())

  const feed = await EventFeed.of(log)
  undo.push(() => feed.close())
  const streams = new EventStreams(feed)

  const server = createHttpServer(
    appOf({
      config,
      paths,
      logger,
      version,
      metrics,
      ledger,
      blobs,
      analytics,
      trainings,
      recorder,
      sql,
      erasures,
      feed,
      streams,
      heads,
      headFile,
      rotation,
    }),
  )
  const address = await listen(server, config, logger)
  // Requests, runs of jobs and erasures end side by side, each in the time that a stop may take.
  undo.push(() => {
    // Streams end only when they are told to, and a server waits for all its answers.
    streams.stop()
    return Promise.all([stopListening(server), jobs.stop(), erasures.stop()])
  })
  await rotation.resume()
  await trainings.resume()
  await jobs.start()
  undo.push(tidyBlobs(log, blobs, logger))
  void erasures.resume().catch((err: unknown) => logger.error({ err }, 'an erasure that was cut off could not be finished'))
  if (config.predictionRetentionMs !== undefined) undo.push(keepFor(config.predictionRetentionMs, { erasures, logger }))

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

/** What requests are answered with. */
type Parts = {
  config: Config
  paths: DataPaths
  logger: Logger
  version: string
  metrics: Metrics
  ledger: Ledger
  blobs: Blobs
  analytics: Analytics
  trainings: TrainingService
  recorder: PredictionRecorder
  sql: SqlEngine
  erasures: Erasures
  feed: EventFeed
  streams: EventStreams
  rotation: KeyRotation
  heads: Heads
  headFile: HeadFile | undefined
}

const appOf = ({
  config,
  paths,
  logger,
  version,
  metrics,
  ledger,
  blobs,
  analytics,
  trainings,
  recorder,
  sql,
  erasures,
  feed,
  streams,
  rotation,
  heads,
  headFile,
}: Parts): Express => {
  const { log } = ledger
  const disk = keptDiskUse(paths, limits.diskUseMaxAgeMs)
  metrics.watch({
    version,
    log: () => log.health(),
    analytics: () => analytics.status(),
    analyticsBytes: () => analytics.residentBytes(),
    trainings: () => trainings.counts(),
    disk,
    streams: () => streams.clients,
  })
  const records = new Records(log, version)
  const reading = readingOf({ log, past: sql.reader, version })
  const histories = new Histories(log, feed.slices.turns)
  const sessions = config.auth && new Sessions(config.auth)
  const about: About = {
    version,
    authentication: sessions !== undefined,
    defaultProject: config.defaultProject,
    headFile: () => headFile?.status(),
    sqlStopped: () => analytics.status().stopped,
    isTraining: () => trainings.isTraining,
  }
  const checkView: CheckView = (query, database, origin, ofView) => sql.writer.checkView(query, database, origin, { ofView })
  const routes = [
    ...projectRoutes(ledger, reading, config.defaultProject),
    ...skillRoutes(ledger, records, reading),
    ...agentRoutes(ledger, records, reading),
    ...chatbotRoutes(ledger, records, reading),
    ...modelRoutes({ ledger, records, sql, reading }),
    ...predictRoutes({
      ...{ ledger, store: new ModelStore(blobs), recorder, progressOf: (model, v) => trainings.progressOf(model, v) },
      onPredicted: (seconds) => metrics.predicted(seconds),
    }),
    ...viewRoutes(ledger, records, reading, checkView),
    ...rollbackRoutes({ ledger, records, blobs, checkView }),
    ...jobRoutes(ledger, records, reading, histories),
    ...fileRoutes(ledger, reading, {
      ...{ blobs, ingester: new Ingester(), temporary: join(paths.temporary, 'uploads') },
      onUploaded: (bytes) => metrics.uploaded(bytes),
    }),
    ...databaseRoutes(ledger, records, reading, config.defaultProject),
    ...erasureRoutes(erasures),
    ...tableRoutes(ledger, reading, sql),
    ...treeRoutes(reading, config.defaultProject),
    ...configRoutes(ledger, reading, { authentication: sessions !== undefined, host: config.host }),
    ...eventRoutes(log, feed, streams),
    ...historyRoutes(reading, histories),
    ...tableCopyRoutes(log, analytics, paths.tables),
    ...proofRoutes(log, heads),
    ...exportRoutes(log, heads),
    ...handlerRoutes(),
    ...rotationRoutes(rotation),
    ...sqlRoutes(sql),
    ...sqlUtilityRoutes(reading, config.defaultProject),
    ...statusRoutes(about),
    ...observeRoutes({ version, readiness: () => readiness({ log, analytics }), metrics, disk }),
    ...authRoutes(sessions),
  ]
  // Only without a login is the address itself what keeps others out.
  const hosts = { guarded: isLoopback(config.host) && !sessions, own: config.host, allowed: config.allowedHosts }
  const { openMetrics } = config
  return createApp({ ledger, routes, about, sessions, openMetrics, hosts, logger, onRequest: (request) => metrics.request(request) })
}
