import { portOf } from '../../../catalogue/connection-engines.js'
import type { Connection } from '../../contract/requests.js'
import { encryptionOf, hostOf, isWritable, serverParameters, textOf, type Encryption, type UrlForm } from '../contract/parameters.js'

/** Parameters of a MySQL connection. */
export type MysqlParameters = {
  host: string
  port: string
  user: string
  password: string
  database: string | undefined
  encryption: Encryption
  writable: boolean
}

const names = [
  ...['host', 'port', 'user', 'username', 'password', 'database', 'dbname', 'url', 'connection_string', 'writable'],
  ...['ssl', 'ssl_mode', 'sslmode', 'ssl_ca', 'ssl_cert', 'ssl_key'],
]

// Aurora is this engine if its `db_engine` says so.
const namesOf = (engine: string): readonly string[] => (engine === 'aurora_mysql' ? [...names, 'db_engine'] : names)

const modes: Readonly<Record<string, Encryption['mode']>> = {
  disabled: 'disable',
  disable: 'disable',
  preferred: 'prefer',
  prefer: 'prefer',
  required: 'require',
  require: 'require',
  'verify-ca': 'verify-ca',
  'verify-identity': 'verify-full',
  'verify-full': 'verify-full',
}

const urls: UrlForm = {
  protocols: ['mysql:', 'mariadb:'],
  form: 'mysql://user:password@host:3306/database',
  options: ['ssl_mode', 'sslmode'],
}

const encryption = { mode: ['ssl_mode', 'sslmode'], ca: ['ssl_ca'], cert: ['ssl_cert'], key: ['ssl_key'] }

/**
 * Reads the parameters of a connection.
 *
 * @example readParameters({ engine: 'mysql', parameters: { host: 'db.example.com', user: 'me', password: '…' } }).port // '3306'
 * @throws Problem wrong_arguments
 */
export const readParameters = ({ engine, parameters }: Pick<Connection, 'engine' | 'parameters'>): MysqlParameters => {
  const given = serverParameters(parameters, { names: namesOf(engine), spoken: 'mysql', urls })
  return {
    host: hostOf(given),
    port: textOf(given, 'port') ?? String(portOf(engine)),
    user: textOf(given, 'user') ?? textOf(given, 'username') ?? 'root',
    password: textOf(given, 'password') ?? '',
    database: textOf(given, 'database') ?? textOf(given, 'dbname'),
    encryption: encryptionOf(given, modes, encryption),
    writable: isWritable(parameters),
  }
}
