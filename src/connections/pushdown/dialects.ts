import { driverOf, type DriverName } from '../../catalogue/connection-engines.js'
import type { Dialect } from './dialect.js'
import { duckdbDialect } from './duckdb.js'
import { mysqlDialect, planetscaleDialect } from './mysql.js'
import { cockroachDialect, postgresDialect, redshiftDialect } from './postgres.js'
import { sqliteDialect } from './sqlite.js'

const dialects: Readonly<Record<DriverName, Dialect>> = {
  postgres: postgresDialect,
  mysql: mysqlDialect,
  sqlite: sqliteDialect,
  duckdb: duckdbDialect,
  parquet: duckdbDialect,
}

/** Databases that differ from the others with their protocol. */
const differing: ReadonlyMap<string, Dialect> = new Map([
  ['cockroachdb', cockroachDialect],
  ['planetscale', planetscaleDialect],
  ['redshift', redshiftDialect],
])

/** The dialect for scans in the databases of an engine. @example dialectOf('mariadb') // mysqlDialect */
export const dialectOf = (engine: string): Dialect => differing.get(engine.toLowerCase()) ?? dialects[driverOf(engine) ?? 'postgres']
