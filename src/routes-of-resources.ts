import type { Intake } from './files/intake.js'
import type { Route } from './http/protocol/route.js'
import type { ReadRouteFactory } from './http/reads/read-routes.js'
import type { Records } from './http/reads/records.js'
import { erasureRoutes } from './http/routes/erasures.js'
import { configRoutes } from './http/routes/resources/config.js'
import { databaseRoutes } from './http/routes/resources/databases.js'
import { fileRoutes } from './http/routes/resources/files.js'
import { jobRoutes } from './http/routes/resources/jobs.js'
import { knowledgeBaseRoutes, type SelectRows } from './http/routes/resources/knowledge-bases.js'
import { rollbackRoutes } from './http/routes/resources/rollbacks.js'
import { tableRoutes } from './http/routes/resources/tables.js'
import { treeRoutes } from './http/routes/resources/tree.js'
import { viewRoutes, type CheckView } from './http/routes/resources/views.js'
import type { Histories } from './log/read/history.js'
import type { Parts } from './route-parts.js'
import { rowsOf } from './sql/contract/query-rows.js'
import type { SqlEngine } from './sql/facade/execute.js'

/** Runs the SELECTs of requests that insert documents; their answers name the positions of the SELECTs, too. */
const selectRows = ({ reader }: SqlEngine): SelectRows =>
  async function* (query, project, call) {
    const context = { db: project, show_secrets: false } as const
    const answer = await reader.select({ sql: query }, { query, context, origin: call.origin(), client: call.client, signal: call.gone })
    if (answer.type !== 'table') throw new TypeError('a query was not answered with a table')
    yield* rowsOf(answer.columns, answer.rows)
    call.positions = [...(call.positions ?? []), ...answer.positions]
  }

type Shared = { reading: ReadRouteFactory; records: Records; histories: Histories; intake: Intake }

/** The routes for the other resources, for the names of all in SQL, and for rollbacks and erasures. */
export const routesOfResources = (parts: Parts, { reading, records, histories, intake }: Shared): Route[] => {
  const { config, metrics } = parts
  const { host, defaultProject } = config
  const { ledger, log, blobs } = parts.storage
  const { sql } = parts.sql
  const checkView: CheckView = (query, database, origin, ofView) => sql.writer.checkView(query, database, origin, { ofView })
  return [
    ...viewRoutes({ ledger, log, records, reading, checkView }),
    ...knowledgeBaseRoutes({ ledger, log, records, reading, knowledge: parts.knowledge.knowledge, select: selectRows(sql) }),
    ...rollbackRoutes({ ledger, log, records, blobs, checkView }),
    ...jobRoutes({ ledger, log, records, reading, histories }),
    ...fileRoutes({ ledger, log, reading, blobs, intake, onUploaded: (bytes) => metrics.uploaded(bytes) }),
    ...databaseRoutes({ ledger, log, records, reading, defaultProject, connected: parts.connected.databases }),
    ...erasureRoutes(parts.housekeeping.erasures),
    ...tableRoutes({ ledger, log, reading, sql }),
    ...treeRoutes(reading, defaultProject),
    ...configRoutes(ledger, reading, { authentication: config.auth !== undefined, host }),
  ]
}
