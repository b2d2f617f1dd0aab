/** Room: the composition: it opens the parts in their order. It imports any room above it. */

import type { AgentEvaluations } from './agents/evaluation/agent-evaluations.js'
import { SqlProcess } from './sql-process/sql-process.js'
import { opened, undoTogether, type Step } from './basics/undo.js'
import { egressFetch } from './egress/fetch.js'
import { egressOf } from './egress/settings.js'
import type { Head, Log } from './log/contract/log.js'
import { spendingOfProjects } from './llm/tokens/project-token-quotas.js'
import { systemOrigin } from './log/contract/origins.js'
import { Metrics } from './observe/metrics.js'
import { openAgents, type AgentParts } from './open-agents.js'
import { openChatbots } from './open-chatbots.js'
import { openConnections } from './open-connections.js'
import { openHousekeeping, type Housekeeping } from './open-housekeeping.js'
import { openHttp } from './open-http.js'
import { openKnowledge } from './open-knowledge.js'
import { openLanguageModels } from './open-language-models.js'
import { openModels } from './open-models.js'
import { openSql } from './open-sql.js'
import { openStorage } from './open-storage.js'
import type { Logger } from './basics/logger.js'
import type { Config } from './setup/config.js'
import { olderLog } from './setup/data-directory.js'
import { readVersion } from './setup/version.js'
import type { SqlEngine } from './sql/facade/execute.js'

export { readConfig, type Config } from './setup/config.js'

/** A running service. */
export type Service = {
  url: string
  head: () => Promise<Head>
  sql: SqlEngine
  log: Log
  sqlProcessPid: () => number | undefined
  /** Answers the requests in progress, then ends every process of the service. */
  close: () => Promise<void>
}

/** How the service starts. */
type StartOptions = {
  /** Whether it also does what no request asks for: trainings of an earlier run, jobs, messages, retention, heads and exports. */
  background?: boolean
}

/**
 * Assembles the service and starts it. Only this function knows every part and the order in which they start and stop.
 *
 * @example const service = await startService(readConfig(process.env), pino()); await service.close()
 * @throws ConfigError that says what to change
 */
export const startService = async (config: Config, logger: Logger, { background = true }: StartOptions = {}): Promise<Service> => {
  // An entry that cannot be read stops the start before anything is opened.
  const egress = egressOf(config)
  const { stop, ...service } = await opened(async (undo) => {
    const version = readVersion()
    const metrics = new Metrics()
    const storage = await openStorage({ config, logger, metrics })
    undo(storage.stop)
    const { log } = storage
    const connected = await openConnections({ config, logger, storage })
    undo(connected.stop)
    const languageModels = openLanguageModels({ config, storage })
    const spendingOfProject = spendingOfProjects(storage.log, config.projectTokensPerDay)
    const knowledge = await openKnowledge({ config, logger, storage, languageModels, spendingOfProject })
    undo(knowledge.stop)
    const sqlProcess = await SqlProcess.start({
      dataDirectory: storage.paths.root,
      masterKeys: () => storage.vault.keys(),
      answerQuestion: (question, request, onReading) => {
        const { origin = systemOrigin, purpose = 'query', answer } = request
        return 'knowledgeBase' in question
          ? knowledge.knowledge.answer(question, { origin, purpose, answer })
          : connected.databases.answer(question, request, onReading)
      },
      holdBlob: storage.blobs.isLocal ? undefined : (sha) => storage.blobs.hold(sha),
      // If the copy of the log is an older one, the tables have events that the log does not have.
      onForeign: (reason) =>
        log.refuseWrites({
          cause: `the log is an older copy, or another one: ${reason}`,
          hint: olderLog(reason, 'delete analytics.duckdb'),
        }),
      logger,
    })
    undo(() => sqlProcess.stop())
    await storage.begin({ background })
    const models = await openModels({
      ...{ config, logger, metrics, storage, sqlProcess, connected },
      beside: (origin, work) => housekeeping.erasures.beside(origin, work),
    })
    undo(models.stop)
    const sql = await openSql({
      ...{ config, version, metrics, storage, sqlProcess, models, knowledge },
      evaluateAgent: (statement, running) => evaluations.run(statement, running),
      askQuestions: (asked, statement) => agents.inSql.answer(asked, statement),
    })
    undo(sql.stop)
    // Requests, answers and runs of jobs end at the same time, each within the time limit of a stop.
    const atOnce: Step[] = []
    undo(() => undoTogether(atOnce))
    const agents: AgentParts = await openAgents({
      ...{ config, logger, languageModels, knowledge, metrics, storage, connected, sqlProcess, models, sql, spendingOfProject },
    })
    atOnce.push(agents.stop)
    const housekeeping: Housekeeping = await openHousekeeping({ config, logger, storage, sqlProcess, knowledge, models, sql })
    atOnce.push(housekeeping.stop)
    const evaluations: AgentEvaluations = agents.evaluations(housekeeping.erasures.beside)
    atOnce.push(() => evaluations.stop())
    const chatbots = await openChatbots({ logger, storage, sqlProcess, ask: agents.agents.ask, fetch: egressFetch(egress) })
    atOnce.push(chatbots.stop)
    const parts = { connected, knowledge, sqlProcess, models, sql, agents, housekeeping, chatbots }
    const http = await openHttp({ config, logger, version, metrics, storage, ...parts })
    atOnce.push(http.stop)
    knowledge.begin()
    // Background work: trainings, jobs, erasures and answers of chatbots.
    await models.trainings.resume({ earlier: background })
    await housekeeping.begin({ background })
    if (background) await chatbots.begin()
    return { url: http.url, head: () => log.head(), sql: sql.sql, log, sqlProcessPid: () => sqlProcess.pid }
  })
  return { ...service, close: stop }
}
