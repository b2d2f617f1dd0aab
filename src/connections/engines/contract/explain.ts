import { errorCode, isProblem, Problem, shortened } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { refusedToWrite, type Reason } from '../../pushdown/native.js'

/** Says what a driver's error means. */
export type ErrorExplainer = (error: unknown) => Problem

const hidden = '…'

/** The text without the secrets of a connection: drivers and databases may repeat them. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  shortened(
    [...secrets]
      .sort((one, other) => other.length - one.length)
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .filter((secret) => secret !== '')
      .reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
      // A word is only matched from its start, because a database may repeat a text of any length.
      .replace(/\b\w+:\/\/[^\s/]*@/g, `${hidden}@`),
  )

/** The problem of a connection that cannot be opened or used (`connection_failed`). Its texts must have no secrets in them. */
export const connectionFailed = (title: string, detail: string, hint: string): Problem =>
  new Problem('connection_failed', title, detail, { hint })

const selfSigned = 'its certificate is signed by itself'
const unknownAuthority = 'its certificate is signed by an authority that is not known here'

/** Refusals of certificates: their codes, and how their messages begin. Some drivers leave only the message. */
const tlsRefusals: readonly (readonly [code: string, message: string, says: string])[] = [
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', unknownAuthority],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', selfSigned],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unable to get local issuer certificate', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT', 'unable to get issuer certificate', unknownAuthority],
  ['CERT_HAS_EXPIRED', 'certificate has expired', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'certificate is not yet valid', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames", 'its certificate is for another host'],
]

/** The meaning of an error of the network or of TLS, for every database; undefined for other errors. */
export const explainNetwork = (error: unknown): Problem | undefined => {
  if (isProblem(error)) return error
  const code = errorCode(error)
  const message = error instanceof Error ? error.message : ''
  const refusal = tlsRefusals.find(([known, text]) => code === known || message.startsWith(text))
  if (refusal)
    return connectionFailed(
      'TLS failed',
      `The database cannot be trusted: ${refusal[2]}`,
      'Give its authority as ssl_ca (PEM text), or the host that it is for.',
    )
  if (/^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code) || /before secure TLS connection/.test(message))
    return connectionFailed(
      'TLS failed',
      'The database broke off the start of TLS',
      'Check the port, and which parameters of TLS the database asks for.',
    )
  if (/^(?:ECONNRESET|EPIPE|ECONNABORTED|ETIMEDOUT|PROTOCOL_CONNECTION_LOST)$/.test(code)) return lost()
  return undefined
}

/** The connection ended before an answer was complete. */
export const lost = (): Problem =>
  connectionFailed(
    'Connection lost',
    'The database broke off the connection',
    'Try again; if it happens again, look into the log of the database.',
  )

/** A statement that the database cancelled, usually because the service asked for it. */
export const cancelled = (): Problem =>
  new Problem('query_limit', 'Cancelled', 'The statement was cancelled in the database', {
    hint: 'It took too long, or somebody cancelled it there: ask for less, or let the database compute less.',
  })

/** A statement that the database refused or could not finish, in its own words. */
export const refusedThere = (message: string, secrets: readonly string[], hint?: string): Problem =>
  new Problem('query_failed', 'The database refused the statement', `The database says: ${redacted(message, secrets)}`, {
    hint: hint ?? 'EXPLAIN SELECT … shows what is sent to the database, and log.database_queries what was sent.',
  })

/** The database refuses the user or the password. `says` is its own sentence, without secrets. */
export const loginRefused = (says: string): Problem =>
  connectionFailed(
    'Login refused',
    `The database refuses the login: ${says}`,
    'Check the parameters "user" and "password", and who may connect from here.',
  )

/** The server asks for the password itself. `parameter` is the parameter with which it would get it. */
export const plainPasswordAsked = (parameter: string): Problem =>
  connectionFailed(
    'Login refused',
    'The database asks for the password itself, as for PAM, LDAP or IAM, and this connection does not check its certificate',
    `Set the parameter ${parameter}, and give the authority of the certificate as ssl_ca unless it is a public one.`,
  )

/** The login did not end in time. */
export const loginTooSlow = (): Problem =>
  connectionFailed(
    'No answer',
    `The database did not finish the login within ${limits.connectionConnectTimeoutMs} ms (connectionConnectTimeoutMs)`,
    'Check that a database of this engine listens at this host and port.',
  )

/** The server has no database of the name. */
export const unknownDatabase = (says: string): Problem =>
  connectionFailed('Unknown database', `The server has no such database: ${says}`, 'Check the parameter "database".')

/** The server has reached its limit of connections. */
export const tooManyConnections = (): Problem =>
  connectionFailed('Too many connections', 'The database takes no more connections', 'Try again later, or raise its max_connections.')

/** A statement wrote in a transaction that only reads. */
export const writeRefused = (says: string, reason: Reason): Problem => refusedToWrite(`The database refused to write: ${says}`, reason)

/** The server has no TLS. `parameter` is the parameter that allows a connection without it. */
export const noTls = (parameter: string): Problem =>
  connectionFailed('No TLS', 'The database does not speak TLS', `Set the parameter ${parameter} if the network to it is safe.`)

/** The server sends unrequested data. @param what the data: '5000 packets that are not rows' */
export const sendsTooMuch = (what: string): Problem =>
  new Problem('query_limit', 'The database sends too much', `The database sent ${what}`, {
    hint: 'It violates its protocol: check which server listens at this port.',
  })

/** The answer does not follow the protocol of the engine. */
export const notUnderstood = (): Problem =>
  connectionFailed(
    'Not understood',
    'The database answered something that is not its protocol',
    'Check that a database of this engine listens at this port.',
  )
