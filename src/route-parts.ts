import { join } from 'node:path'
import type { ErasureGuard } from './log/contract/log.js'
import type { SqlProcess } from './sql-process/sql-process.js'
import type { AgentParts } from './open-agents.js'
import type { Chatbots } from './open-chatbots.js'
import type { Housekeeping } from './open-housekeeping.js'
import type { ConnectedParts } from './open-connections.js'
import type { KnowledgeParts } from './open-knowledge.js'
import type { Models } from './open-models.js'
import type { Sql } from './open-sql.js'
import type { Storage } from './open-storage.js'
import type { Logger } from './basics/logger.js'
import type { Config } from './setup/config.js'
import { Ingester } from './files/ingest/ingest.js'
import { Intake } from './files/intake.js'
import { AnswerRecords } from './agents/record/answer-records.js'
import { Reruns } from './agents/rerun/reruns.js'
import { AnswerJudge } from './agents/record/judge-answer.js'
import type { EventStreams } from './http/reads/event-stream.js'
import type { SelectRows } from './http/routes/resources/knowledge-bases.js'
import { PredictionService } from './models/serving/prediction-service.js'
import type { ReadTables } from './http/reads/find-database.js'
import { readingOf } from './http/reads/read-routes.js'
import { Records } from './http/reads/records.js'
import { inProject } from './log/read/by-name.js'
import { Sessions } from './http/login/sessions.js'
import type { ServiceInfo } from './http/routes/status.js'
import type { CheckView } from './http/routes/resources/views.js'
import { limits } from './basics/limits.js'
import { rowsOf } from './sql/contract/query-rows.js'
import type { EventFeed } from './log/feed/event-feed.js'
import { Histories } from './log/read/history.js'
import { logNow } from './log/read/time-travel.js'
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
  /** The unique id of this run of the service. */
  instance: string
  metrics: Metrics
  storage: Storage
  connected: ConnectedParts
  sqlProcess: SqlProcess
  models: Models
  knowledge: KnowledgeParts
  sql: Sql
  agents: AgentParts
  housekeeping: Housekeeping
  chatbots: Chatbots
  feed: EventFeed
  streams: EventStreams
}

/** Builds the parts that only routes use, from the common parts of the service, and registers them for the metrics. */
export const routePartsOf = (parts: Parts) => {
  const { config, version, metrics, sqlProcess, feed, streams } = parts
  const { paths, ledger, log, blobs, headFile, clock, missingBlobs } = parts.storage
  const { trainings, recorder, store } = parts.models
  const { sql } = parts.sql
  const { erasures, exporter } = parts.housekeeping
  const disk = keptDiskUse(paths, limits.diskUseMaxAgeMs)
  metrics.watch({
    version,
    log: () => log.health(),
    sqlProcess: () => sqlProcess.status(),
    sqlProcessBytes: () => sqlProcess.residentBytes(),
    trainings: () => trainings.counts(),
    disk,
    streams: () => streams.clients,
    exported: () => exporter?.status(),
  })
  const progressOf: ProgressOf = (model, ofVersion) => trainings.progressOf(model, ofVersion)
  const records = new Records(log, version, progressOf)
  const connected = parts.connected.databases
  const connectedTables: ReadTables = (connection, soon) => connected.tables(connection, soon)
  const reading = readingOf({ log, past: sql.reader, version, progressOf, connectedTables })
  const { turns } = feed.slices
  const histories = new Histories(log, turns)
  const sessions = config.auth && new Sessions(config.auth, { store: parts.storage.sessionStore, readsLocally: config.readsLocally })
  const about: ServiceInfo = {
    version,
    authentication: sessions !== undefined,
    defaultProject: config.defaultProject,
    headFile: () => headFile?.status(),
    exported: () => exporter?.status(),
    sqlStopped: () => sqlProcess.status().stopped,
    isTraining: () => trainings.isTraining,
    settings: config.settings,
  }
  const warned = [clock, missingBlobs, exporter, headFile, sqlProcess]
  const warnings = () => warned.map((part) => part?.warning()).filter((text) => text !== undefined)
  const intake = new Intake({ blobs, ingester: new Ingester(), temporary: join(paths.temporary, 'uploads') })
  const checkView: CheckView = (query, database, origin, ofView) => sql.writer.checkView(query, database, origin, { ofView })
  const answers = new AnswerRecords({ log, readRows: (query, client) => sql.reader.rowsNow(query, client) })
  const beside: ErasureGuard = (origin, work) => erasures.beside(origin, work)
  const reruns = new Reruns({
    ...{ ledger, log, records: answers, ask: parts.agents.agents.ask },
    resourcesAt: (position, client) => sql.reader.resourcesAt(position, client),
    beside,
  })
  const judge = new AnswerJudge({ ledger, records: answers, beside })
  const predicting = new PredictionService({
    ...{ log, store, recorder, progressOf },
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
    const context = { db: project, show_secrets: false } as const
    const answer = await sql.reader.select(
      { sql: query },
      { query, context, origin: call.origin(), client: call.client, signal: call.gone },
    )
    if (answer.type !== 'table') throw new TypeError('a query was not answered with a table')
    yield* rowsOf(answer.columns, answer.rows)
    call.positions = [...(call.positions ?? []), ...answer.positions]
  }
  return {
    answers,
    checkView,
    connected,
    disk,
    histories,
    about,
    intake,
    judge,
    predicting,
    reading,
    records,
    reruns,
    select,
    sessions,
    tools,
    turns,
    outcomes: new OutcomeReporter({ ledger, log, store, beside, readRows: (...asked) => sql.reader.rowsNow(...asked) }),
    ready: () => readiness({ log, warnings, sqlProcess, readsLocally: config.readsLocally }),
  }
}
