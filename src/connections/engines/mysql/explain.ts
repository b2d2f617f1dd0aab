import type { Problem } from '../../../basics/errors.js'
import type { Reason } from '../../pushdown/native.js'
import {
  cancelled,
  connectionFailed,
  explainNetwork,
  loginRefused,
  lost,
  noTls,
  notUnderstood,
  plainPasswordAsked,
  redacted,
  refusedThere,
  tooManyConnections,
  unknownDatabase,
  writeRefused,
  type ErrorExplainer,
} from '../contract/explain.js'

const fieldOf = (error: unknown, name: string): string => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** The plugin for logins that the server asks for and the driver does not have. */
const pluginIn = (error: unknown): string | undefined =>
  fieldOf(error, 'code') === 'AUTH_SWITCH_PLUGIN_ERROR' ? /unknown plugin (\w{1,64})\b/.exec(fieldOf(error, 'message'))?.[1] : undefined

const pluginUnknown = (plugin: string): Problem =>
  connectionFailed(
    'Login refused',
    `The database asks for a login by the plugin ${plugin}, which this service does not know`,
    'Give the user another plugin in the database: caching_sha2_password, sha256_password or mysql_native_password.',
  )

/** Says what an error of the driver means, without the secrets of the connection. `toRead` is why a statement must read. */
export const explainMysql =
  (secrets: readonly string[], toRead: Reason): ErrorExplainer =>
  (error) => {
    const [code, message] = [fieldOf(error, 'code'), fieldOf(error, 'sqlMessage')]
    const says = redacted(message, secrets)
    switch (code) {
      case 'ER_ACCESS_DENIED_ERROR':
      case 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR':
      case 'ER_DBACCESS_DENIED_ERROR':
      case 'ER_HOST_NOT_PRIVILEGED':
        return loginRefused(says)
      case 'ER_BAD_DB_ERROR':
        return unknownDatabase(says)
      case 'ER_CON_COUNT_ERROR':
      case 'ER_TOO_MANY_USER_CONNECTIONS':
        return tooManyConnections()
      case 'ER_SERVER_SHUTDOWN':
      case 'ER_NORMAL_SHUTDOWN':
      case 'ER_CONNECTION_KILLED':
        return lost()
      case 'ER_QUERY_INTERRUPTED':
      case 'ER_QUERY_TIMEOUT':
      case 'ER_STATEMENT_TIMEOUT':
        return cancelled()
      case 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION':
        return writeRefused(says, toRead)
      case 'ER_NO_DB_ERROR':
        return refusedThere(message, secrets, 'Write the database before the table, or give the connection the parameter "database".')
      case 'HANDSHAKE_NO_SSL_SUPPORT':
        return noTls('"ssl": false')
      case 'MYSQL_CLEAR_PASSWORD_NOT_ENABLED':
        return plainPasswordAsked('"ssl_mode": "VERIFY_IDENTITY"')
      default:
    }
    const plugin = pluginIn(error)
    if (plugin !== undefined) return pluginUnknown(redacted(plugin, secrets))
    const inner: unknown = error instanceof Error ? error.cause : undefined
    const known = explainNetwork(error) ?? explainNetwork(inner)
    if (known) return known
    if (code === 'HANDSHAKE_SSL_ERROR')
      return connectionFailed(
        'TLS failed',
        'The database broke off the start of TLS',
        'Check its certificate, and which parameters of TLS it asks for.',
      )
    if (message !== '') return refusedThere(message, secrets)
    if (error instanceof Error && /closed|lost|ended|destroyed/i.test(error.message)) return lost()
    return notUnderstood()
  }
