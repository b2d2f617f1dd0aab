import { driverOf } from '../contract/engine-names.js'
import type { Dialect } from './dialect.js'
import { mysqlDialect } from './mysql.js'
import { postgresDialect } from './postgres.js'

/** How the databases of an engine write a scan. @example dialectOf('mariadb') // mysqlDialect */
export const dialectOf = (engine: string): Dialect => (driverOf(engine) === 'mysql' ? mysqlDialect : postgresDialect)
