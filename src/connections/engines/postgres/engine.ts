/**
 * Room: the sessions, types and errors of PostgreSQL. It imports only events, basics, egress, catalogue, connections/contract,
 * connections/batch, connections/pushdown and connections/engines/contract.
 */

import type { DatabaseEngine } from '../contract/engine.js'

/** PostgreSQL, and databases that speak its protocol. The driver is loaded where the first of them is opened. */
export const postgres: DatabaseEngine = {
  connect: async (connection, around) => (await import('./open-session.js')).openSession(connection, around),
}
