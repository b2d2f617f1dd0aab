/**
 * Room: the sessions, types and errors of MySQL, MariaDB, and databases that speak their protocol. It imports only basics, egress,
 * catalogue, connections/contract, connections/batch, connections/pushdown and connections/engines/contract.
 */

import type { DatabaseEngine } from '../contract/engine.js'

/** MySQL, MariaDB, and databases that speak their protocol. The driver is loaded where the first of them is opened. */
export const mysql: DatabaseEngine = {
  connect: async (connection, around) => (await import('./open-session.js')).openSession(connection, around),
}
