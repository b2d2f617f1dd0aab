import type { JsonObject } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'
import { flagOf, knownParameters, pemOf, textOf, type Encryption } from '../contract/parameters.js'

/** Where a database is, and who asks. */
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

const inUrl: readonly string[] = ['sslmode', 'application_name', 'connect_timeout', 'schema']

const modes: Readonly<Record<string, Encryption['mode']>> = {
  disable: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  require: 'require',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
}

/** The parameters that a URL holds. Options in it that read files, or call elsewhere, are refused with all that are not known. */
const fromUrl = (text: string): Map<string, string> => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw wrong(
      'The parameter "url" is not a URL',
      'Write postgresql://user:password@host:5432/database, with special characters of the password as %XX.',
    )
  }
  if (!/^(?:postgres(?:ql)?|cockroachdb|redshift):$/.test(url.protocol))
    throw wrong(`The parameter "url" begins with ${url.protocol}//`, 'Write postgresql://user:password@host:5432/database.')
  for (const name of url.searchParams.keys())
    if (!inUrl.includes(name)) throw wrong(`The URL has the option "${name}", which is not taken`, `It takes ${inUrl.join(', ')}.`)
  const decode = (part: string) => {
    try {
      return decodeURIComponent(part)
    } catch {
      throw wrong('The parameter "url" has a % that begins no character', 'Write a % itself as %25.')
    }
  }
  const parts = {
    host: decode(url.hostname),
    port: url.port,
    user: decode(url.username),
    password: decode(url.password),
    database: decode(url.pathname.slice(1)),
    sslmode: url.searchParams.get('sslmode') ?? '',
    schema: url.searchParams.get('schema') ?? '',
  }
  return new Map(Object.entries(parts).filter(([, value]) => value !== ''))
}

/**
 * Reads the parameters of a connection: those of the public service, or a URL with others beside it.
 *
 * @example readParameters({ host: 'db.example.com', user: 'me', password: '…', database: 'shop' }).port // 5432
 * @throws Problem wrong_arguments
 */
export const readParameters = (parameters: JsonObject): PostgresParameters => {
  const own = knownParameters(parameters, names)
  const url = textOf(own, 'url') ?? textOf(own, 'connection_string')
  const given = new Map([...(url === undefined ? [] : fromUrl(url)), ...own])
  const host = textOf(given, 'host')
  if (host === undefined) throw wrong('The connection has no parameter "host"', 'PARAMETERS = {"host": "db.example.com", "user": …}')
  const ca = pemOf(given, 'ssl_ca', 'sslrootcert')
  const mode = textOf(given, 'sslmode') ?? textOf(given, 'ssl_mode')
  const known = mode === undefined ? undefined : modes[mode.toLowerCase()]
  if (mode !== undefined && !known) throw wrong('The parameter "sslmode" is not known', `It is one of ${Object.keys(modes).join(', ')}.`)
  const ssl = flagOf(given, 'ssl')
  const implied = ssl === false ? 'disable' : ca !== undefined ? 'verify-full' : ssl ? 'require' : 'prefer'
  const user = textOf(given, 'user') ?? textOf(given, 'username') ?? 'postgres'
  return {
    host,
    port: textOf(given, 'port') ?? 5_432,
    user,
    password: textOf(given, 'password') ?? '',
    database: textOf(given, 'database') ?? textOf(given, 'dbname') ?? user,
    schema: textOf(given, 'schema'),
    encryption: { mode: known ?? implied, ca, cert: pemOf(given, 'ssl_cert', 'sslcert'), key: pemOf(given, 'ssl_key', 'sslkey') },
    writable: flagOf(given, 'writable') ?? false,
  }
}
