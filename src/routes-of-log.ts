import type { Route } from './http/protocol/route.js'
import { Downloads } from './http/reads/event-answers.js'
import type { ReadRouteFactory } from './http/reads/read-routes.js'
import { eventRoutes } from './http/routes/events.js'
import { exportRoutes } from './http/routes/export.js'
import { proofRoutes } from './http/routes/proofs.js'
import { historyRoutes } from './http/routes/resources/history.js'
import { tableCopyRoutes } from './http/routes/table-copies.js'
import type { Histories } from './log/read/history.js'
import type { Parts } from './route-parts.js'

type Shared = { reading: ReadRouteFactory; histories: Histories }

/** The routes for what happened: events, the changes of resources, proofs and exports. */
export const routesOfLog = ({ storage, sqlProcess, feed, streams }: Parts, { reading, histories }: Shared): Route[] => {
  const { paths, log, heads } = storage
  const downloads = new Downloads()
  return [
    ...eventRoutes(log, feed, streams, downloads),
    ...historyRoutes(reading, histories),
    ...tableCopyRoutes(log, sqlProcess, paths.tables),
    ...proofRoutes(log, heads),
    ...exportRoutes(log, heads, feed.slices.turns, downloads),
  ]
}
