import { limits } from './basics/limits.js'
import type { Sessions } from './http/login/sessions.js'
import type { Route } from './http/protocol/route.js'
import type { Moment, ReadRouteFactory } from './http/reads/read-routes.js'
import { loginRoutes } from './http/routes/login.js'
import { observeRoutes } from './http/routes/observe.js'
import { handlerRoutes } from './http/routes/resources/handlers.js'
import { rotationRoutes } from './http/routes/rotations.js'
import { sqlUtilityRoutes } from './http/routes/sql-utilities.js'
import { sqlRoutes } from './http/routes/sql.js'
import { statusRoutes, type ServiceInfo } from './http/routes/status.js'
import { inProject } from './log/read/by-name.js'
import type { Histories } from './log/read/history.js'
import { mcpRoutes } from './mcp/route.js'
import type { ToolParts } from './mcp/tools.js'
import { keptDiskUse, type DiskUse } from './observe/disk-use.js'
import { readiness } from './observe/readiness.js'
import type { Parts } from './route-parts.js'

/** Registers the sources of the metrics. */
const watch = (parts: Parts, disk: () => Promise<DiskUse>): void => {
  const { version, metrics, sqlProcess, streams } = parts
  metrics.watch({
    version,
    log: () => parts.storage.log.health(),
    sqlProcess: () => sqlProcess.status(),
    sqlProcessBytes: () => sqlProcess.residentBytes(),
    trainings: () => parts.models.trainings.counts(),
    setAside: () => ({
      conversations: parts.chatbots.conversations.reaction?.setAside ?? 0,
      trainings: parts.models.trainings.reaction?.setAside ?? 0,
    }),
    disk,
    streams: () => streams.clients,
    exported: () => parts.housekeeping.exporter?.status(),
  })
}

/** Tells whether this node is ready, with the warnings of its parts. */
const readinessOf = ({ config, storage, housekeeping, sqlProcess, models, chatbots }: Parts) => {
  const { log, clock, missingBlobs, headFile } = storage
  const warned = () => [
    ...[clock, missingBlobs, housekeeping.exporter, headFile, sqlProcess],
    // They begin when the service has opened all of its parts.
    ...[chatbots.conversations.reaction, models.trainings.reaction],
  ]
  const warnings = () => warned().flatMap((part) => part?.warning() ?? [])
  return () => readiness({ log, warnings, sqlProcess, readsLocally: config.readsLocally })
}

type Shared = { reading: ReadRouteFactory; present: Moment; histories: Histories; about: ServiceInfo; sessions: Sessions | undefined }

const toolPartsOf = (parts: Parts, { present, histories }: Shared): ToolParts => {
  const { config, storage, models, agents } = parts
  return {
    ...{ sql: parts.sql.sql, moment: present, histories, predicting: models.predicting, ask: agents.agents.ask },
    ...{ defaultProject: config.defaultProject, writes: config.mcpWrites },
    knowledge: {
      find: async (project, name) => (await inProject(storage.log, 'knowledge_base', project, name)).found,
      search: parts.knowledge.knowledge.search,
    },
  }
}

/** The routes for the service as a whole: its engines, its master key, SQL, its state, tools for assistants, and the login. */
export const routesOfService = (parts: Parts, shared: Shared): Route[] => {
  const { config, logger, version, instance, metrics } = parts
  const { paths } = parts.storage
  const disk = keptDiskUse(paths, limits.diskUseMaxAgeMs)
  watch(parts, disk)
  return [
    ...handlerRoutes(),
    ...rotationRoutes(parts.housekeeping.rotation),
    ...sqlRoutes(parts.sql.sql, paths.tables),
    ...sqlUtilityRoutes(shared.reading, config.defaultProject),
    ...statusRoutes(shared.about),
    ...observeRoutes({ version, instance, readiness: readinessOf(parts), metrics, disk }),
    ...mcpRoutes({ tools: toolPartsOf(parts, shared), version, logger }),
    ...loginRoutes(shared.sessions),
  ]
}
