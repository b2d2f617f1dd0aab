import { join } from 'node:path'
import type { ErasureGuard } from './log/contract/log.js'
import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Analytics } from './analytics/supervisor.js'
import type { AgentParts } from './open-agents.js'
import type { Chatbots } from './open-chatbots.js'
import type { Housekeeping } from './open-housekeeping.js'
import type { ConnectedParts } from './open-connections.js'
import type { KnowledgeParts } from './open-knowledge.js'
import type { Models } from './open-models.js'
import type { Sql } from './open-sql.js'
import type { Storage } from './open-storage.js'
import { isLoopback, type Config } from './setup/config.js'
import { Ingester } from './files/ingest/ingest.js'
import { Intake } from './files/intake.js'
import { AnswerRecords } from './agents/record/answer-records.js'
import { Reruns } from './agents/rerun/reruns.js'
import { AnswerJudge } from './agents/record/judge-answer.js'
import { agentRoutes } from './http/routes/resources/agents.js'
import { answerRoutes } from './http/routes/answers.js'
import { conversationRoutes } from './http/routes/conversations/conversations.js'
import { messageRoutes } from './http/routes/conversations/messages.js'
import { webhookRoutes } from './http/routes/conversations/webhooks.js'
import { createApp } from './http/server/app.js'
import { authRoutes } from './http/routes/auth.js'
import { chatbotRoutes } from './http/routes/resources/chatbots.js'
import { completionRoutes } from './http/routes/completions.js'
import { configRoutes } from './http/routes/resources/config.js'
import { databaseRoutes } from './http/routes/resources/databases.js'
import type { EventStreams } from './http/reads/event-stream.js'
import { eventRoutes } from './http/routes/events.js'
import { erasureRoutes } from './http/routes/erasures.js'
import { fileRoutes } from './http/routes/resources/files.js'
import { handlerRoutes } from './http/routes/resources/handlers.js'
import { historyRoutes } from './http/routes/resources/history.js'
import { jobRoutes } from './http/routes/resources/jobs.js'
import { knowledgeBaseRoutes, type SelectRows } from './http/routes/resources/knowledge-bases.js'
import { modelRoutes } from './http/routes/resources/models.js'
import { observeRoutes } from './http/routes/observe.js'
import { outcomeRoutes } from './http/routes/outcomes.js'
import { predictRoutes } from './http/routes/predict.js'
import { exportRoutes } from './http/routes/export.js'
import { PredictionService } from './models/serving/prediction-service.js'
import { proofRoutes } from './http/routes/proofs.js'
import { projectRoutes } from './http/routes/resources/projects.js'
import type { ReadTables } from './http/reads/find-database.js'
import { readingOf } from './http/reads/read-routes.js'
import { Records } from './http/reads/records.js'
import { inProject } from './log/read/by-name.js'
import { Sessions } from './http/protocol/sessions.js'
import { rerunRoutes } from './http/routes/reruns.js'
import { rollbackRoutes } from './http/routes/resources/rollbacks.js'
import { rotationRoutes } from './http/routes/rotations.js'
import { skillRoutes } from './http/routes/resources/skills.js'
import { sqlUtilityRoutes } from './http/routes/sql-utilities.js'
import { sqlRoutes } from './http/routes/sql.js'
import { statusRoutes, type ServiceInfo } from './http/routes/status.js'
import { tableCopyRoutes } from './http/routes/table-copies.js'
import { tableRoutes } from './http/routes/resources/tables.js'
import { trainingRoutes } from './http/routes/resources/trainings.js'
import { treeRoutes } from './http/routes/resources/tree.js'
import { viewRoutes, type CheckView } from './http/routes/resources/views.js'
import { limits } from './basics/limits.js'
import { rowsOf } from './sql/contract/query-rows.js'
import type { EventFeed } from './log/feed/event-feed.js'
import { Histories } from './log/read/history.js'
import { logNow } from './log/read/past.js'
import { mcpRoutes } from './mcp/route.js'
import type { ToolParts } from './mcp/tools.js'
import { OutcomeReporter } from './models/serving/report-outcomes.js'
import type { ProgressOf } from './models/training/progress.js'
import { keptDiskUse } from './observe/disk-use.js'
import type { Metrics } from './observe/metrics.js'
import { readiness } from './observe/readiness.js'

/** The parts of the service that routes use. */
export type Parts = {
  config: Config
  logger: Logger
  version: string
  /** The name of this run of the service. */
  instance: string
  metrics: Metrics
  storage: Storage
  connected: ConnectedParts
  analytics: Analytics
  models: Models
  knowledge: KnowledgeParts
  sql: Sql
  agents: AgentParts
  housekeeping: Housekeeping
  chatbots: Chatbots
  feed: EventFeed
  streams: EventStreams
}

/** Builds the application with all routes. */
export const appOf = (parts: Parts): Express => {
  const { config, logger, version, instance, metrics, analytics, feed, streams } = parts
  const { paths, ledger, blobs, heads, headFile, clock, missingBlobs } = parts.storage
  const { trainings, recorder, store } = parts.models
  const { sql, dataChecks } = parts.sql
  const { erasures, rotation, exporter } = parts.housekeeping
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
    exported: () => exporter?.status(),
  })
  const progressOf: ProgressOf = (model, ofVersion) => trainings.progressOf(model, ofVersion)
  const records = new Records(log, version, progressOf)
  const connected = parts.connected.databases
  const connectedTables: ReadTables = (connection) => connected.tables(connection)
  const reading = readingOf({ log, past: sql.reader, version, progressOf, connectedTables })
  const { turns } = feed.slices
  const histories = new Histories(log, turns)
  const sessions = config.auth && new Sessions(config.auth, parts.storage.logins)
  const about: ServiceInfo = {
    version,
    authentication: sessions !== undefined,
    defaultProject: config.defaultProject,
    headFile: () => headFile?.status(),
    exported: () => exporter?.status(),
    sqlStopped: () => analytics.status().stopped,
    isTraining: () => trainings.isTraining,
    settings: config.settings,
  }
  const warnings = () =>
    [clock.warning(), missingBlobs.warning(), exporter?.warning(), headFile?.warning()].filter((text) => text !== undefined)
  const intake = new Intake({ blobs, ingester: new Ingester(), temporary: join(paths.temporary, 'uploads') })
  const checkView: CheckView = (query, database, origin, ofView) => sql.writer.checkView(query, database, origin, { ofView })
  const answers = new AnswerRecords({ log, readRows: (query, client) => sql.reader.rowsNow(query, client) })
  const beside: ErasureGuard = (origin, work) => erasures.beside(origin, work)
  const reruns = new Reruns({
    ...{ ledger, records: answers, ask: parts.agents.agents.ask },
    resourcesAt: (position, client) => sql.reader.resourcesAt(position, client),
    beside,
  })
  const judge = new AnswerJudge({ ledger, records: answers, beside })
  const predicting = new PredictionService({
    ...{ ledger, store, recorder, progressOf },
    onPredicted: (seconds) => metrics.predicted(seconds),
  })
  const tools: ToolParts = {
    ...{ sql, histories, predicting, defaultProject: config.defaultProject, writes: config.mcpWrites },
    moment: { ...logNow(log), records, connectedTables },
    ask: parts.agents.agents.ask,
    knowledge: {
      find: async (project, name) => (await inProject(log, 'knowledge_base', project, name)).found,
      search: parts.knowledge.knowledge.search,
    },
  }
  const select: SelectRows = async function* (query, project, call) {
    const { position: upTo } = await log.head()
    const origin = call.origin()
    const asked = { sql: query, db: project, defaultProject: config.defaultProject, upTo, user: origin.actor, origin }
    const { columns, rows } = await analytics.query(asked, { signal: call.gone, client: call.client })
    yield* rowsOf(columns, rows)
  }
  const routes = [
    ...projectRoutes(ledger, reading, config.defaultProject),
    ...skillRoutes(ledger, records, reading),
    ...answerRoutes({ ledger, reading, records: answers, judge }),
    ...rerunRoutes({ ledger, reruns, sql }),
    ...agentRoutes({ ledger, records, reading, checkModel: (agent, signal) => parts.agents.check(agent, signal) }),
    ...completionRoutes(ledger, parts.agents.agents),
    ...chatbotRoutes(ledger, records, reading),
    ...conversationRoutes(ledger),
    ...messageRoutes(ledger, parts.chatbots.desk),
    ...webhookRoutes({ ledger, ...parts.chatbots }),
    ...modelRoutes({ ledger, records, sql, reading, intake }),
    ...trainingRoutes(ledger, records, dataChecks),
    ...outcomeRoutes(ledger, new OutcomeReporter({ ledger, store, beside })),
    ...predictRoutes(ledger, predicting),
    ...viewRoutes(ledger, records, reading, checkView),
    ...knowledgeBaseRoutes({ ledger, records, reading, knowledge: parts.knowledge.knowledge, select }),
    ...rollbackRoutes({ ledger, records, blobs, checkView }),
    ...jobRoutes(ledger, records, reading, histories),
    ...fileRoutes(ledger, reading, {
      ...{ blobs, intake },
      onUploaded: (bytes) => metrics.uploaded(bytes),
    }),
    ...databaseRoutes({ ledger, records, reading, defaultProject: config.defaultProject, connected }),
    ...erasureRoutes(erasures),
    ...tableRoutes(ledger, reading, sql),
    ...treeRoutes(reading, config.defaultProject),
    ...configRoutes(ledger, reading, { authentication: sessions !== undefined, host: config.host }),
    ...eventRoutes(log, feed, streams),
    ...historyRoutes(reading, histories),
    ...tableCopyRoutes(log, analytics, paths.tables),
    ...proofRoutes(log, heads),
    ...exportRoutes(log, heads, turns),
    ...handlerRoutes(),
    ...rotationRoutes(rotation),
    ...sqlRoutes(sql, paths.tables),
    ...sqlUtilityRoutes(reading, config.defaultProject),
    ...statusRoutes(about),
    ...observeRoutes({
      version,
      instance,
      readiness: () => readiness({ log, warnings, analytics, readsLocally: config.readsLocally }),
      metrics,
      disk,
    }),
    ...mcpRoutes({ tools, version, logger }),
    ...authRoutes(sessions),
  ]
  // Without a login only the loopback address protects the service, so host names are checked.
  const hosts = { guarded: isLoopback(config.host) && !sessions, own: config.host, allowed: config.allowedHosts }
  const { openMetrics, readsLocally, trustedProxies } = config
  return createApp({
    ...{ ledger, routes, about, sessions, openMetrics, readsLocally, hosts, trustedProxies, logger },
    onRequest: (request) => metrics.request(request),
  })
}
