import type { DatabaseError } from 'pg'
import { Problem } from '../../../basics/errors.js'
import { cancelled, connectionFailed, explainNetwork, lost, redacted, refusedThere, type Explain } from '../contract/explain.js'

const isFromServer = (error: unknown): error is DatabaseError =>
  error instanceof Error && typeof Reflect.get(error, 'severity') === 'string' && typeof Reflect.get(error, 'code') === 'string'

const fromServer = (error: DatabaseError, secrets: readonly string[]): Problem => {
  const code = error.code ?? ''
  const says = redacted(error.message, secrets)
  switch (code) {
    case '28P01':
    case '28000':
      return connectionFailed(
        'Login refused',
        `The database refuses the login: ${says}`,
        'Check the parameters "user" and "password", and who may connect from here.',
      )
    case '3D000':
      return connectionFailed('Unknown database', `The server has no such database: ${says}`, 'Check the parameter "database".')
    case '53300':
      return connectionFailed(
        'Too many connections',
        'The database takes no more connections',
        'Try again later, or raise its max_connections.',
      )
    case '57P01':
    case '57P02':
    case '57P03':
      return connectionFailed('Database stops or starts', `The database is not available: ${says}`, 'Try again later.')
    case '57014':
      // A file that is asked for is not sent, which PostgreSQL calls cancelled too.
      return /^COPY/.test(error.message) ? refusedThere(error.message, secrets, 'Files are not copied by statements.') : cancelled()
    case '25006':
      return new Problem('refused_statement', 'Only statements that read', `The database refused to write: ${says}`, {
        hint: 'A connection with the parameter "writable": true takes statements that write.',
      })
    case '42601':
      return refusedThere(error.message, secrets, /multiple commands/.test(error.message) ? 'Send one statement at a time.' : error.hint)
    default:
      return refusedThere(error.message, secrets, error.hint === undefined ? undefined : redacted(error.hint, secrets))
  }
}

/** Says what an error of the driver means, without the secrets of the connection. */
export const explainPostgres =
  (secrets: readonly string[]): Explain =>
  (error) => {
    const known = explainNetwork(error)
    if (known) return known
    if (isFromServer(error)) return fromServer(error, secrets)
    const message = error instanceof Error ? error.message : ''
    if (/does not support SSL/i.test(message))
      return connectionFailed(
        'No TLS',
        'The database does not speak TLS',
        'Set the parameter "sslmode": "disable" if the way to it is safe.',
      )
    if (/password must be a string|SASL|SCRAM|client password/i.test(message))
      return connectionFailed(
        'Login refused',
        'The database asks for a password in a way that does not fit the one given',
        'Check the parameter "password".',
      )
    if (/terminated|not queryable|Connection ended|closed/i.test(message)) return lost()
    return connectionFailed(
      'Not understood',
      'The database answered something that is not its protocol',
      'Check that a database of this engine listens at this port.',
    )
  }
