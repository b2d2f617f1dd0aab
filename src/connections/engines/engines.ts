/**
 * Room: the kinds of databases that can be connected. It imports only basics, catalogue, connections/contract,
 * connections/engines/contract, connections/engines/postgres, connections/engines/mysql and connections/engines/files.
 */

import { Problem } from '../../basics/errors.js'
import { driverOf } from '../../catalogue/connection-engines.js'
import type { DatabaseEngine } from './contract/engine.js'
import { duckdb, parquet, sqlite } from './files/engines.js'
import { mysql } from './mysql/engine.js'
import { postgres } from './postgres/engine.js'

const engines = { postgres, mysql, sqlite, duckdb, parquet } satisfies Record<string, DatabaseEngine>

/** The engine of a connection. @throws Problem wrong_arguments for an engine without a driver */
export const engineOf = (name: string): DatabaseEngine => {
  const driver = driverOf(name)
  if (driver) return engines[driver]
  throw new Problem('wrong_arguments', 'Wrong arguments', `This service does not talk to databases of the engine ${name}`)
}
