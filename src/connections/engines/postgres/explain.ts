import type { DatabaseError } from 'pg'
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
  redacted,
  refusedThere,
  tooManyConnections,
  unknownDatabase,
  writeRefused,
  type ErrorExplainer,
} from '../contract/explain.js'
import { copyRefusal } from './cursor.js'
import { queryCancelled } from './metadata.js'
import { noTransaction } from './no-transaction.js'

/** The routine of PostgreSQL that refuses several statements in one text. Its message may be in any language. */
const severalRefusing = 'exec_parse_message'

const isFromServer = (error: unknown): error is DatabaseError =>
  error instanceof Error && typeof Reflect.get(error, 'severity') === 'string' && typeof Reflect.get(error, 'code') === 'string'

/** The ways to log in that the protocol has and the driver does not, by their numbers. */
const unknownLogins: ReadonlyMap<string, string> = new Map([
  ['2', 'Kerberos'],
  ['6', 'SCM credentials'],
  ['7', 'GSSAPI'],
  ['8', 'GSSAPI'],
  ['9', 'SSPI'],
])

const loginUnknown = (number: string): Problem => {
  const method = unknownLogins.get(number) ?? `the method ${number} of its protocol`
  return connectionFailed(
    'Login refused',
    `The database asks for a login by ${method}, which this service does not know`,
    'Give the user another method in pg_hba.conf of the database: scram-sha-256 or md5, or password with a checked certificate.',
  )
}

const fromServer = (error: DatabaseError, secrets: readonly string[], toRead: Reason): Problem => {
  const code = error.code ?? ''
  const says = redacted(error.message, secrets)
  switch (code) {
    case '28P01':
    case '28000':
      return loginRefused(says)
    case '3D000':
      return unknownDatabase(says)
    case '53300':
      return tooManyConnections()
    case '57P01':
    case '57P02':
    case '57P03':
      return connectionFailed('Database stops or starts', `The database is not available: ${says}`, 'Try again later.')
    case queryCancelled:
      // A file that the statement asks for is not sent. PostgreSQL calls that cancelled, too.
      return error.message.includes(copyRefusal) ? refusedThere(error.message, secrets, 'Files are not copied by statements.') : cancelled()
    case '25001':
    case '2D000':
      return refusedThere(error.message, secrets, noTransaction)
    case '25006':
      return writeRefused(says, toRead)
    case '42601':
      return refusedThere(error.message, secrets, error.routine === severalRefusing ? 'Send one statement at a time.' : error.hint)
    default:
      return refusedThere(error.message, secrets, error.hint === undefined ? undefined : redacted(error.hint, secrets))
  }
}

/** Says what an error of the driver means, without the secrets of the connection. `toRead` is why a statement must read. */
export const explainPostgres =
  (secrets: readonly string[], toRead: Reason): ErrorExplainer =>
  (error) => {
    const known = explainNetwork(error)
    if (known) return known
    if (isFromServer(error)) return fromServer(error, secrets, toRead)
    const message = error instanceof Error ? error.message : ''
    const asked = /^Unknown authenticationOk message type (\d+)$/.exec(message)?.[1]
    if (asked !== undefined) return loginUnknown(asked)
    if (/does not support SSL/i.test(message)) return noTls('"sslmode": "disable"')
    if (/password must be a string|SASL|SCRAM|client password/i.test(message))
      return connectionFailed(
        'Login refused',
        'The database asks for a password in a way that does not fit the one given',
        'Check the parameter "password".',
      )
    if (/terminated|not queryable|Connection ended|closed/i.test(message)) return lost()
    return notUnderstood()
  }
