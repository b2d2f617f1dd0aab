import { driverOf, type DriverName } from '../../catalogue/connection-engines.js'
import type { Connection } from '../contract/requests.js'
import { readPath } from './files/paths.js'
import { readParameters as readMysql } from './mysql/parameters.js'
import { readParameters as readPostgres } from './postgres/parameters.js'

type Given = Pick<Connection, 'engine' | 'parameters'>

const ofFile = ({ parameters }: Given) => readPath(parameters)

const readers: Record<DriverName, (given: Given) => unknown> = {
  postgres: readPostgres,
  mysql: readMysql,
  sqlite: ofFile,
  duckdb: ofFile,
  parquet: ofFile,
}

/**
 * Refuses parameters that cannot be used, before anything is called. A connection that is only recorded may have any.
 *
 * @example checkParameters({ engine: 'postgres', parameters: { hots: 'db.example.com' } }) // throws: no parameter "hots"
 * @throws Problem wrong_arguments that names the parameter
 */
export const checkParameters = (given: Given): void => {
  const driver = driverOf(given.engine)
  if (driver) readers[driver](given)
}
