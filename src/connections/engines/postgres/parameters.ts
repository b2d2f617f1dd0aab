import { portOf } from '../../../catalogue/connection-engines.js'
import type { Connection } from '../../contract/requests.js'
import { encryptionOf, hostOf, isWritable, serverParameters, textOf, type Encryption, type UrlForm } from '../contract/parameters.js'

/** Parameters of a PostgreSQL connection. */
export type PostgresParameters = {
  host: string
  port: number | string
  user: string
  password: string
  database: string
  schema: string | undefined
  encryption: Encryption
  writable: boolean
}

const names = [
  ...['host', 'port', 'user', 'username', 'password', 'database', 'dbname', 'schema', 'url', 'connection_string', 'writable'],
  ...['ssl', 'sslmode', 'ssl_mode', 'ssl_ca', 'ssl_cert', 'ssl_key', 'sslrootcert', 'sslcert', 'sslkey'],
]

const namesOf = (engine: string): readonly string[] => (engine.toLowerCase() === 'aurora' ? [...names, 'db_engine'] : names)

const modes: Readonly<Record<string, Encryption['mode']>> = {
  disable: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  require: 'require',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
}

const urls: UrlForm = {
  protocols: ['postgres:', 'postgresql:', 'cockroachdb:', 'redshift:'],
  form: 'postgresql://user:password@host:5432/database',
  options: ['sslmode', 'application_name', 'connect_timeout', 'schema'],
}

const encryption = {
  mode: ['sslmode', 'ssl_mode'],
  ca: ['ssl_ca', 'sslrootcert'],
  cert: ['ssl_cert', 'sslcert'],
  key: ['ssl_key', 'sslkey'],
}

/**
 * Reads the parameters of a connection: those of MindsDB, or a URL with others beside it.
 *
 * @example readParameters({ engine: 'postgres', parameters: { host: 'db.example.com', user: 'me', password: '…' } }).port // 5432
 * @throws Problem wrong_arguments
 */
export const readParameters = ({ engine, parameters }: Pick<Connection, 'engine' | 'parameters'>): PostgresParameters => {
  const given = serverParameters(parameters, { names: namesOf(engine), spoken: 'postgres', urls })
  const user = textOf(given, 'user') ?? textOf(given, 'username') ?? 'postgres'
  return {
    host: hostOf(given),
    port: textOf(given, 'port') ?? portOf(engine),
    user,
    password: textOf(given, 'password') ?? '',
    database: textOf(given, 'database') ?? textOf(given, 'dbname') ?? user,
    schema: textOf(given, 'schema'),
    encryption: encryptionOf(given, modes, encryption),
    writable: isWritable(parameters),
  }
}
