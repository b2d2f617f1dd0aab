import { isProblem, Problem, shortened } from '../../../basics/errors.js'

/** Says what a driver's error means. */
export type Explain = (error: unknown) => Problem

const hidden = '…'

/** The text without the secrets of a connection: drivers and databases repeat what they were sent. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  shortened(
    [...secrets]
      .sort((one, other) => other.length - one.length)
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .filter((secret) => secret !== '')
      .reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
      .replace(/\w+:\/\/[^\s/]*@/g, `${hidden}@`),
  )

export const connectionFailed = (title: string, detail: string, hint: string): Problem =>
  new Problem('connection_failed', title, detail, { hint })

const tlsSentences: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is signed by an authority that is not known here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

const codeOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

/** What an error of the network or of TLS means, whatever the database; undefined for others. */
export const explainNetwork = (error: unknown): Problem | undefined => {
  if (isProblem(error)) return error
  const code = codeOf(error)
  const tls = tlsSentences[code]
  if (tls !== undefined)
    return connectionFailed(
      'TLS failed',
      `The database cannot be trusted: ${tls}`,
      'Give its authority as ssl_ca (PEM text), or the host that it is for.',
    )
  if (/^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code) || (error instanceof Error && /before secure TLS connection/.test(error.message)))
    return connectionFailed(
      'TLS failed',
      'The database broke off the start of TLS',
      'Check the port, and which parameters of TLS the database asks for.',
    )
  if (/^(?:ECONNRESET|EPIPE|ECONNABORTED|ETIMEDOUT|PROTOCOL_CONNECTION_LOST)$/.test(code)) return lost()
  return undefined
}

/** The connection ended in the middle of something. */
export const lost = (): Problem =>
  connectionFailed(
    'Connection lost',
    'The database broke off the connection',
    'Try again; if it happens again, look into the log of the database.',
  )

/** A statement that the database ended because it was told to. */
export const cancelled = (): Problem => new Problem('query_limit', 'Cancelled', 'The statement was cancelled in the database')

/** A statement that the database refused or could not finish, in its own words. */
export const refusedThere = (message: string, secrets: readonly string[], hint?: string): Problem =>
  new Problem(
    'query_failed',
    'The database refused the statement',
    `The database says: ${redacted(message, secrets)}`,
    hint === undefined ? {} : { hint },
  )
