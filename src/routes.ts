import type { Express } from 'express'
import { isLoopback } from './setup/config.js'
import { agentRoutes } from './http/routes/resources/agents.js'
import { answerRoutes } from './http/routes/answers.js'
import { conversationRoutes } from './http/routes/conversations/conversations.js'
import { messageRoutes } from './http/routes/conversations/messages.js'
import { webhookRoutes } from './http/routes/conversations/webhooks.js'
import { createApp } from './http/server/app.js'
import { loginRoutes } from './http/routes/login.js'
import { chatbotRoutes } from './http/routes/resources/chatbots.js'
import { completionRoutes } from './http/routes/completions.js'
import { configRoutes } from './http/routes/resources/config.js'
import { databaseRoutes } from './http/routes/resources/databases.js'
import { eventRoutes } from './http/routes/events.js'
import { erasureRoutes } from './http/routes/erasures.js'
import { fileRoutes } from './http/routes/resources/files.js'
import { handlerRoutes } from './http/routes/resources/handlers.js'
import { historyRoutes } from './http/routes/resources/history.js'
import { jobRoutes } from './http/routes/resources/jobs.js'
import { knowledgeBaseRoutes } from './http/routes/resources/knowledge-bases.js'
import { modelRoutes } from './http/routes/resources/models.js'
import { observeRoutes } from './http/routes/observe.js'
import { outcomeRoutes } from './http/routes/outcomes.js'
import { predictRoutes } from './http/routes/predict.js'
import { Downloads } from './http/reads/event-answers.js'
import { exportRoutes } from './http/routes/export.js'
import { proofRoutes } from './http/routes/proofs.js'
import { projectRoutes } from './http/routes/resources/projects.js'
import { rerunRoutes } from './http/routes/reruns.js'
import { rollbackRoutes } from './http/routes/resources/rollbacks.js'
import { rotationRoutes } from './http/routes/rotations.js'
import { skillRoutes } from './http/routes/resources/skills.js'
import { sqlUtilityRoutes } from './http/routes/sql-utilities.js'
import { sqlRoutes } from './http/routes/sql.js'
import { statusRoutes } from './http/routes/status.js'
import { tableCopyRoutes } from './http/routes/table-copies.js'
import { tableRoutes } from './http/routes/resources/tables.js'
import { trainingRoutes } from './http/routes/resources/trainings.js'
import { treeRoutes } from './http/routes/resources/tree.js'
import { viewRoutes } from './http/routes/resources/views.js'
import { mcpRoutes } from './mcp/route.js'
import { routePartsOf, type Parts } from './route-parts.js'

/** Builds the application with all routes. */
export const appOf = (parts: Parts): Express => {
  const { config, logger, version, instance, metrics, sqlProcess, feed, streams } = parts
  const { paths, ledger, log, vault, blobs, heads } = parts.storage
  const { sql, dataChecks } = parts.sql
  const { erasures, rotation } = parts.housekeeping
  const served = routePartsOf(parts)
  const { about, checkView, connected, disk, histories, intake, reading, records, sessions, turns } = served
  const downloads = new Downloads()
  const routes = [
    ...projectRoutes(ledger, reading, config.defaultProject),
    ...skillRoutes(ledger, records, reading),
    ...answerRoutes({ ledger, log, reading, records: served.answers, judge: served.judge }),
    ...rerunRoutes({ log, reruns: served.reruns, sql }),
    ...agentRoutes({ ledger, records, reading, checkModel: (agent, signal) => parts.agents.check(agent, signal) }),
    ...completionRoutes(log, parts.agents.agents),
    ...chatbotRoutes({ ledger, log, records, reading }),
    ...conversationRoutes(ledger, log),
    ...messageRoutes(log, parts.chatbots.intake),
    ...webhookRoutes({ log, vault, intake: parts.chatbots.intake, fetch: parts.chatbots.fetch }),
    ...modelRoutes({ ledger, log, records, sql, reading, intake, blobs }),
    ...trainingRoutes({ ledger, log, records, checks: dataChecks }),
    ...outcomeRoutes(ledger, log, served.outcomes),
    ...predictRoutes(ledger, served.predicting),
    ...viewRoutes({ ledger, log, records, reading, checkView }),
    ...knowledgeBaseRoutes({ ledger, log, records, reading, knowledge: parts.knowledge.knowledge, select: served.select }),
    ...rollbackRoutes({ ledger, log, records, blobs, checkView }),
    ...jobRoutes({ ledger, log, records, reading, histories }),
    ...fileRoutes({ ledger, log, reading, blobs, intake, onUploaded: (bytes) => metrics.uploaded(bytes) }),
    ...databaseRoutes({ ledger, log, records, reading, defaultProject: config.defaultProject, connected }),
    ...erasureRoutes(erasures),
    ...tableRoutes({ ledger, log, reading, sql }),
    ...treeRoutes(reading, config.defaultProject),
    ...configRoutes(ledger, reading, { authentication: sessions !== undefined, host: config.host }),
    ...eventRoutes(log, feed, streams, downloads),
    ...historyRoutes(reading, histories),
    ...tableCopyRoutes(log, sqlProcess, paths.tables),
    ...proofRoutes(log, heads),
    ...exportRoutes(log, heads, turns, downloads),
    ...handlerRoutes(),
    ...rotationRoutes(rotation),
    ...sqlRoutes(sql, paths.tables),
    ...sqlUtilityRoutes(reading, config.defaultProject),
    ...statusRoutes(about),
    ...observeRoutes({
      version,
      instance,
      readiness: served.ready,
      metrics,
      disk,
    }),
    ...mcpRoutes({ tools: served.tools, version, logger }),
    ...loginRoutes(sessions),
  ]
  // Without a login only the loopback address protects the service, so host names are checked.
  const hosts = { guarded: isLoopback(config.host) && !sessions, own: config.host, allowed: config.allowedHosts }
  const { openMetrics, readsLocally, trustedProxies } = config
  return createApp({
    ...{ ledger, log, routes, about, sessions, openMetrics, readsLocally, hosts, trustedProxies, logger },
    onRequest: (request) => metrics.request(request),
  })
}
