import { Agents } from './agents/agents.js'
import { AgentEvaluations } from './agents/evaluation/agent-evaluations.js'
import { requestOf, settingsOf } from './agents/prompt/settings.js'
import { QuestionsInSql } from './agents/questions-in-sql.js'
import type { SqlProcess } from './sql-process/sql-process.js'
import type { Logger } from './basics/logger.js'
import { opened } from './basics/undo.js'
import { grantsOf } from './catalogue/grants.js'
import type { CheckModel } from './http/routes/resources/agents.js'
import { checkModel } from './llm/check.js'
import type { ErasureGuard } from './log/contract/log.js'
import type { LanguageModels } from './llm/language-models.js'
import type { SpendingOfProject } from './llm/tokens/daily-token-quotas.js'
import { observedSql } from './observe/observed.js'
import type { Metrics } from './observe/metrics.js'
import type { ConnectedParts } from './open-connections.js'
import type { KnowledgeParts } from './open-knowledge.js'
import type { Models } from './open-models.js'
import type { Sql } from './open-sql.js'
import type { Storage } from './open-storage.js'
import type { Config } from './setup/config.js'

/** The agents, and the language models that they call. */
export type AgentParts = Awaited<ReturnType<typeof openAgents>>

type Options = {
  config: Config
  logger: Logger
  languageModels: LanguageModels
  knowledge: KnowledgeParts
  metrics: Metrics
  storage: Storage
  connected: ConnectedParts
  sqlProcess: SqlProcess
  models: Models
  sql: Sql
  spendingOfProject: SpendingOfProject
}

/** Opens the agents, their SQL function, and their evaluations. No model is called before the first request. */
export const openAgents = ({
  config,
  logger,
  languageModels,
  knowledge,
  metrics,
  storage: { ledger, log },
  connected,
  sqlProcess,
  models,
  sql,
  spendingOfProject,
}: Options) =>
  opened((undo) => {
    const agents = new Agents({
      ...{ ledger, log, logger, store: models.store, recorder: models.recorder },
      sqlProcess: observedSql(sqlProcess, metrics),
      defaultProject: config.defaultProject,
      modelOf: (agent) => languageModels.forAgent(agent),
      connectedTables: (connection) => connected.databases.tables(connection),
      connectedColumns: (connection) => connected.databases.everyColumn(connection),
      readComments: (connection, table, schema) => connected.databases.comments(connection, table, schema),
      resourcesAt: (position, client) => sql.sql.reader.resourcesAt(position, client),
      tokensPerDay: config.agentTokensPerDay,
      spendingOfProject,
      knowledge: knowledge.ofAgents,
    })
    undo(() => agents.stop())
    const inSql = new QuestionsInSql({
      ask: agents.ask,
      resources: log.resources,
      resourcesAt: (position, client) => sql.sql.reader.resourcesAt(position, client),
    })
    /** Tries the language model of an agent; the agent need not exist yet. @throws Problem llm_failed, egress_refused */
    const check: CheckModel = async (agent, signal) => {
      const { tables, models: asked, knowledgeBases } = grantsOf([], agent.params)
      const usesTools = [...agent.skills, ...tables, ...asked, ...knowledgeBases].length > 0
      await checkModel(await languageModels.forAgent(agent), requestOf(settingsOf(agent)), { signal, usesTools })
    }
    /** The evaluations, which ask agents the questions of tables; `beside` runs work during which no answers are erased. */
    const evaluations = (beside: ErasureGuard) =>
      new AgentEvaluations({
        ...{ ledger, log, beside, ask: agents.ask },
        rowsFor: (asked, query) => agents.rowsFor(asked, query),
        modelOf: (agent) => languageModels.forAgent(agent),
        spending: (agent) => agents.spending(agent),
        select: (query, running) => sql.sql.reader.select({ sql: query }, { ...running, format: 'json' }),
      })
    return { languageModels, agents, inSql, check, evaluations }
  })
