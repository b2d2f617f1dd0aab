import { join } from 'node:path'
import type { Express } from 'express'
import { Ingester } from './files/ingest/ingest.js'
import { Intake } from './files/intake.js'
import { Sessions } from './http/login/sessions.js'
import { readingOf, type Moment } from './http/reads/read-routes.js'
import { Records } from './http/reads/records.js'
import { projectRoutes } from './http/routes/resources/projects.js'
import type { ServiceInfo } from './http/routes/status.js'
import { createApp } from './http/server/app.js'
import { Histories } from './log/read/history.js'
import { logNow } from './log/read/time-travel.js'
import type { Parts } from './route-parts.js'
import { routesOfAgents } from './routes-of-agents.js'
import { routesOfLog } from './routes-of-log.js'
import { routesOfModels } from './routes-of-models.js'
import { routesOfResources } from './routes-of-resources.js'
import { routesOfService } from './routes-of-service.js'
import { isLoopback } from './setup/config.js'

/** What the service tells about itself. */
const aboutOf = ({ config, version, storage, models, housekeeping, sqlProcess }: Parts): ServiceInfo => ({
  version,
  authentication: config.auth !== undefined,
  defaultProject: config.defaultProject,
  headFile: () => storage.headFile?.status(),
  exported: () => housekeeping.exporter?.status(),
  sqlStopped: () => sqlProcess.status().stopped,
  isTraining: () => models.trainings.isTraining,
  settings: config.settings,
})

/** The resources in their present state, with the progress of trainings and the tables of connected databases. */
const presentOf = ({ version, storage: { log }, models, connected }: Parts): Moment => ({
  ...logNow(log),
  records: new Records(log, version, models.trainings.progressOf),
  connectedTables: (connection, soon) => connected.databases.tables(connection, soon),
})

/** Builds the application with all routes, and the parts that routes of several areas share. */
export const appOf = (parts: Parts): Express => {
  const { config, logger, version, metrics } = parts
  const { ledger, log, blobs, paths, sessionStore } = parts.storage
  const { openMetrics, readsLocally, trustedProxies } = config
  const sessions = config.auth && new Sessions(config.auth, { store: sessionStore, readsLocally })
  const about = aboutOf(parts)
  const present = presentOf(parts)
  const { records } = present
  const reading = readingOf({ log, present, past: parts.sql.sql.reader, version })
  const histories = new Histories(log, parts.feed.slices.turns)
  const intake = new Intake({ blobs, ingester: new Ingester(), temporary: join(paths.temporary, 'uploads') })
  const routes = [
    ...projectRoutes(ledger, reading, config.defaultProject),
    ...routesOfAgents(parts, { reading, records }),
    ...routesOfModels(parts, { reading, records, intake }),
    ...routesOfResources(parts, { reading, records, histories, intake }),
    ...routesOfLog(parts, { reading, histories }),
    ...routesOfService(parts, { reading, present, histories, about, sessions }),
  ]
  // Without a login only the loopback address protects the service, so host names are checked.
  const hosts = { guarded: isLoopback(config.host) && !sessions, own: config.host, allowed: config.allowedHosts }
  return createApp({
    ...{ ledger, log, routes, about, sessions, openMetrics, readsLocally, hosts, trustedProxies, logger },
    onRequest: (request) => metrics.request(request),
  })
}
