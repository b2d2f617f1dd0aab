import { isObject, type Json } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'
import { portOf } from '../../../catalogue/connection-engines.js'
import type { Connection } from '../../contract/requests.js'
import {
  encryptionOf,
  flagOf,
  hostOf,
  isWritable,
  serverParameters,
  textOf,
  type Encryption,
  type UrlForm,
} from '../contract/parameters.js'

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

/** Parameters that clients of MindsDB send and that change nothing here: each statement is a transaction, and every time has a limit. */
const withoutEffect = ['autocommit', 'application_name', 'connect_timeout']

const names = [
  ...['host', 'port', 'user', 'username', 'password', 'database', 'dbname', 'schema', 'url', 'connection_string', 'writable'],
  ...['ssl', 'sslmode', 'ssl_mode', 'ssl_ca', 'ssl_cert', 'ssl_key', 'sslrootcert', 'sslcert', 'sslkey'],
  ...['connection_parameters', ...withoutEffect],
]

const innerOfTls = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/** The members of `connection_parameters`: those that mean what they mean beside it, and those without an effect. */
const innerNames = [
  ...innerOfTls,
  ...['application_name', 'fallback_application_name', 'client_encoding', 'connect_timeout', 'tcp_user_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
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
 * The parameters with those of `connection_parameters`; a parameter beside it comes first.
 *
 * @throws Problem wrong_arguments for a member that would have an effect here that this service does not give it
 */
const withInner = (given: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> => {
  const inner = given.get('connection_parameters')
  if (inner === undefined) return given
  if (!isObject(inner)) throw wrong('The parameter "connection_parameters" is not an object')
  const all = new Map(given)
  for (const [key, value] of Object.entries(inner)) {
    const name = key.toLowerCase()
    if (!innerNames.includes(name))
      throw wrong(`The parameter "connection_parameters" may not have "${key}"`, `It takes ${innerNames.join(', ')}.`)
    const synonyms = Object.values(encryption).find((each) => each.includes(name)) ?? []
    if (innerOfTls.includes(name) && value !== null && value !== '' && !synonyms.some((each) => given.has(each))) all.set(name, value)
  }
  return all
}

/**
 * Reads the parameters of a connection: those of MindsDB, or a URL with others beside it.
 *
 * @example readParameters({ engine: 'postgres', parameters: { host: 'db.example.com', user: 'me', password: '…' } }).port // 5432
 * @throws Problem wrong_arguments
 */
export const readParameters = ({ engine, parameters }: Pick<Connection, 'engine' | 'parameters'>): PostgresParameters => {
  const given = withInner(serverParameters(parameters, { names: namesOf(engine), spoken: 'postgres', urls }))
  flagOf(given, 'autocommit')
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
