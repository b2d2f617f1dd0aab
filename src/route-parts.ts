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
import type { EventStreams } from './http/reads/event-stream.js'
import type { EventFeed } from './log/feed/event-feed.js'
import type { Metrics } from './observe/metrics.js'

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
