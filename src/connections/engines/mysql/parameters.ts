import type { JsonObject } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'
import { flagOf, knownParameters, pemOf, textOf, type Encryption } from '../contract/parameters.js'

/** Where a database is, and who asks. */
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
  ...['host', 'port', 'user', 'username', 'password', 'database', 'url', 'writable'],
  ...['ssl', 'ssl_mode', 'sslmode', 'ssl_ca', 'ssl_cert', 'ssl_key'],
]

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

const fromUrl = (text: string): Map<string, string> => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw wrong(
      'The parameter "url" is not a URL',
      'Write mysql://user:password@host:3306/database, with special characters of the password as %XX.',
    )
  }
  if (!/^(?:mysql|mariadb):$/.test(url.protocol))
    throw wrong(`The parameter "url" begins with ${url.protocol}//`, 'Write mysql://user:password@host:3306/database.')
  for (const name of url.searchParams.keys())
    if (name !== 'ssl_mode' && name !== 'sslmode') throw wrong(`The URL has the option "${name}", which is not taken`, 'It takes ssl_mode.')
  try {
    const parts = {
      host: decodeURIComponent(url.hostname),
      port: url.port,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
      ssl_mode: url.searchParams.get('ssl_mode') ?? url.searchParams.get('sslmode') ?? '',
    }
    return new Map(Object.entries(parts).filter(([, value]) => value !== ''))
  } catch {
    throw wrong('The parameter "url" has a % that begins no character', 'Write a % itself as %25.')
  }
}

/**
 * Reads the parameters of a connection.
 *
 * @example readParameters({ host: 'db.example.com', user: 'me', password: '…', database: 'shop' }).port // '3306'
 * @throws Problem wrong_arguments
 */
export const readParameters = (parameters: JsonObject): MysqlParameters => {
  const own = knownParameters(parameters, names)
  const url = textOf(own, 'url')
  const given = new Map([...(url === undefined ? [] : fromUrl(url)), ...own])
  const host = textOf(given, 'host')
  if (host === undefined) throw wrong('The connection has no parameter "host"', 'PARAMETERS = {"host": "db.example.com", "user": …}')
  const ca = pemOf(given, 'ssl_ca')
  const mode = textOf(given, 'ssl_mode') ?? textOf(given, 'sslmode')
  const known = mode === undefined ? undefined : modes[mode.toLowerCase().replace('_', '-')]
  if (mode !== undefined && !known) throw wrong('The parameter "ssl_mode" is not known', `It is one of ${Object.keys(modes).join(', ')}.`)
  const ssl = flagOf(given, 'ssl')
  const implied = ssl === false ? 'disable' : ca !== undefined ? 'verify-full' : ssl ? 'require' : 'prefer'
  return {
    host,
    port: textOf(given, 'port') ?? '3306',
    user: textOf(given, 'user') ?? textOf(given, 'username') ?? 'root',
    password: textOf(given, 'password') ?? '',
    database: textOf(given, 'database'),
    encryption: { mode: known ?? implied, ca, cert: pemOf(given, 'ssl_cert'), key: pemOf(given, 'ssl_key') },
    writable: flagOf(given, 'writable') ?? false,
  }
}
