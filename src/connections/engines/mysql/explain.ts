import { Problem } from '../../../basics/errors.js'
import { cancelled, connectionFailed, explainNetwork, lost, redacted, refusedThere, type Explain } from '../contract/explain.js'

const fieldOf = (error: unknown, name: string): string => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Says what an error of the driver means, without the secrets of the connection. */
export const explainMysql =
  (secrets: readonly string[]): Explain =>
  (error) => {
    const [code, message] = [fieldOf(error, 'code'), fieldOf(error, 'sqlMessage')]
    const says = redacted(message, secrets)
    switch (code) {
      case 'ER_ACCESS_DENIED_ERROR':
      case 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR':
      case 'ER_DBACCESS_DENIED_ERROR':
      case 'ER_HOST_NOT_PRIVILEGED':
        return connectionFailed(
          'Login refused',
          `The database refuses the login: ${says}`,
          'Check the parameters "user" and "password", and who may connect from here.',
        )
      case 'ER_BAD_DB_ERROR':
        return connectionFailed('Unknown database', `The server has no such database: ${says}`, 'Check the parameter "database".')
      case 'ER_CON_COUNT_ERROR':
      case 'ER_TOO_MANY_USER_CONNECTIONS':
        return connectionFailed(
          'Too many connections',
          'The database takes no more connections',
          'Try again later, or raise its max_connections.',
        )
      case 'ER_SERVER_SHUTDOWN':
      case 'ER_NORMAL_SHUTDOWN':
      case 'ER_CONNECTION_KILLED':
        return lost()
      case 'ER_QUERY_INTERRUPTED':
      case 'ER_QUERY_TIMEOUT':
      case 'ER_STATEMENT_TIMEOUT':
        return cancelled()
      case 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION':
        return new Problem('refused_statement', 'Only statements that read', 'The database refused to write', {
          hint: 'A connection with the parameter "writable": true takes statements that write.',
        })
      case 'HANDSHAKE_NO_SSL_SUPPORT':
        return connectionFailed('No TLS', 'The database does not speak TLS', 'Set the parameter "ssl": false if the way to it is safe.')
      default:
    }
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
    return connectionFailed(
      'Not understood',
      'The database answered something that is not its protocol',
      'Check that a database of this engine listens at this port.',
    )
  }
