import { join } from 'node:path'
import type { Express } from 'express'
import type { Logger } from 'pino'
import type { HeadFile } from '../audit/head-file.js'
import type { Heads } from '../audit/heads.js'
import type { Analytics } from '../analytics/supervisor.js'
import type { Ledger } from '../commands/ledger.js'
import { isLoopback, type Config } from '../setup/config.js'
import type { Erasures } from '../erasure/erasures.js'
import type { Blobs } from '../files/blobs.js'
import type { MissingBlobs } from '../files/missing-blobs.js'
import { Ingester } from '../files/ingest/ingest.js'
import { Intake } from '../files/intake.js'
import { agentRoutes } from './routes/resources/agents.js'
import { createApp } from './server/app.js'
import { authRoutes } from './routes/auth.js'
import { chatbotRoutes } from './routes/resources/chatbots.js'
import { configRoutes } from './routes/resources/config.js'
import { databaseRoutes } from './routes/resources/databases.js'
import type { EventStreams } from './reads/event-stream.js'
import { eventRoutes } from './routes/events.js'
import { erasureRoutes } from './routes/erasures.js'
import { fileRoutes } from './routes/resources/files.js'
import { handlerRoutes } from './routes/resources/handlers.js'
import { historyRoutes } from './routes/resources/history.js'
import { jobRoutes } from './routes/resources/jobs.js'
import { modelRoutes } from './routes/resources/models.js'
import { observeRoutes } from './routes/observe.js'
import { outcomeRoutes } from './routes/outcomes.js'
import { predictRoutes } from './routes/predict.js'
import { exportRoutes } from './routes/export.js'
import { proofRoutes } from './routes/proofs.js'
import { projectRoutes } from './routes/resources/projects.js'
import { readingOf } from './reads/reading.js'
import { Records } from './reads/records.js'
import { Sessions } from './protocol/sessions.js'
import { rollbackRoutes } from './routes/resources/rollbacks.js'
import { rotationRoutes } from './routes/rotations.js'
import { skillRoutes } from './routes/resources/skills.js'
import { sqlUtilityRoutes } from './routes/sql-utilities.js'
import { sqlRoutes } from './routes/sql.js'
import { statusRoutes, type About } from './routes/status.js'
import { tableCopyRoutes } from './routes/table-copies.js'
import { tableRoutes } from './routes/resources/tables.js'
import { trainingRoutes } from './routes/resources/trainings.js'
import { treeRoutes } from './routes/resources/tree.js'
import { viewRoutes, type CheckView } from './routes/resources/views.js'
import { limits } from '../basics/limits.js'
import type { DataPaths } from '../setup/data-directory.js'
import type { EventFeed } from '../log/feed/event-feed.js'
import { Histories } from '../log/read/history.js'
import type { DataChecks } from '../models/training/data-checks.js'
import { OutcomeReporter } from '../models/serving/report-outcomes.js'
import { ModelStore } from '../models/serving/model-store.js'
import type { ProgressOf } from '../models/training/progress.js'
import type { PredictionRecorder } from '../models/serving/recorder.js'
import type { TrainingService } from '../models/training/training-service.js'
import { keptDiskUse } from '../observe/disk-use.js'
import type { Metrics } from '../observe/metrics.js'
import { readiness } from '../observe/readiness.js'
import type { SqlEngine } from '../sql/facade/execute.js'
import type { TrustedClock } from '../basics/trusted-clock.js'
import type { KeyRotation } from '../rotation/key-rotation.js'

/** What requests are answered with. */
export type Parts = {
  config: Config
  paths: DataPaths
  logger: Logger
  version: string
  metrics: Metrics
  ledger: Ledger
  blobs: Blobs
  analytics: Analytics
  trainings: TrainingService
  dataChecks: DataChecks
  recorder: PredictionRecorder
  sql: SqlEngine
  erasures: Erasures
  feed: EventFeed
  streams: EventStreams
  rotation: KeyRotation
  heads: Heads
  headFile: HeadFile | undefined
  clock: TrustedClock
  missingBlobs: MissingBlobs
  /** The name of this run of the service. */
  instance: string
}

/** Every address with what answers it. */
export const appOf = (parts: Parts): Express => {
  const { config, paths, logger, version, metrics, ledger, blobs, analytics, trainings, recorder, sql, feed, streams, heads } = parts
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
  const progressOf: ProgressOf = (model, ofVersion) => trainings.progressOf(model, ofVersion)
  const records = new Records(log, version, progressOf)
  const reading = readingOf({ log, past: sql.reader, version, progressOf })
  const { turns } = feed.slices
  const histories = new Histories(log, turns)
  const sessions = config.auth && new Sessions(config.auth)
  const about: About = {
    version,
    authentication: sessions !== undefined,
    defaultProject: config.defaultProject,
    headFile: () => parts.headFile?.status(),
    sqlStopped: () => analytics.status().stopped,
    isTraining: () => trainings.isTraining,
  }
  const warnings = () => [parts.clock.warning(), parts.missingBlobs.warning()].filter((text) => text !== undefined)
  const store = new ModelStore(blobs)
  const intake = new Intake({ blobs, ingester: new Ingester(), temporary: join(paths.temporary, 'uploads') })
  const checkView: CheckView = (query, database, origin, ofView) => sql.writer.checkView(query, database, origin, { ofView })
  const routes = [
    ...projectRoutes(ledger, reading, config.defaultProject),
    ...skillRoutes(ledger, records, reading),
    ...agentRoutes(ledger, records, reading),
    ...chatbotRoutes(ledger, records, reading),
    ...modelRoutes({ ledger, records, sql, reading, intake }),
    ...trainingRoutes(ledger, records, parts.dataChecks),
    ...outcomeRoutes(ledger, new OutcomeReporter({ log, vault: ledger.vault, store, beside: (work) => parts.erasures.beside(work) })),
    ...predictRoutes({
      ...{ ledger, store, recorder, progressOf },
      onPredicted: (seconds) => metrics.predicted(seconds),
    }),
    ...viewRoutes(ledger, records, reading, checkView),
    ...rollbackRoutes({ ledger, records, blobs, checkView }),
    ...jobRoutes(ledger, records, reading, histories),
    ...fileRoutes(ledger, reading, {
      ...{ blobs, intake },
      onUploaded: (bytes) => metrics.uploaded(bytes),
    }),
    ...databaseRoutes(ledger, records, reading, config.defaultProject),
    ...erasureRoutes(parts.erasures),
    ...tableRoutes(ledger, reading, sql),
    ...treeRoutes(reading, config.defaultProject),
    ...configRoutes(ledger, reading, { authentication: sessions !== undefined, host: config.host }),
    ...eventRoutes(log, feed, streams),
    ...historyRoutes(reading, histories),
    ...tableCopyRoutes(log, analytics, paths.tables),
    ...proofRoutes(log, heads),
    ...exportRoutes(log, heads, turns),
    ...handlerRoutes(),
    ...rotationRoutes(parts.rotation),
    ...sqlRoutes(sql),
    ...sqlUtilityRoutes(reading, config.defaultProject),
    ...statusRoutes(about),
    ...observeRoutes({ version, instance: parts.instance, readiness: () => readiness({ log, warnings, analytics }), metrics, disk }),
    ...authRoutes(sessions),
  ]
  // Only without a login is the address itself what keeps others out.
  const hosts = { guarded: isLoopback(config.host) && !sessions, own: config.host, allowed: config.allowedHosts }
  const { openMetrics, trustedProxies } = config
  return createApp({
    ...{ ledger, routes, about, sessions, openMetrics, hosts, trustedProxies, logger },
    onRequest: (request) => metrics.request(request),
  })
}
