import { createHmac, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

/** Reads a header of a request; undefined if it is missing or occurs twice. */
export type ReadHeader = (name: string) => string | undefined

/** The refusal of a request with a wrong signature. It never says what would have been right. */
export const badSignature = (detail: string, hint?: string): Problem =>
  new Problem('bad_signature', 'Wrong signature', detail, hint === undefined ? {} : { hint })

/** HMAC-SHA256 over texts and bytes, one after the other. */
export const hmac = (key: string | Buffer, ...parts: readonly (string | Buffer)[]): Buffer => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

/**
 * Whether two texts are equal, in a time that does not reveal where they differ.
 *
 * @example sameText('v0=ab', 'v0=ab') // true
 */
export const sameText = (given: string, expected: string): boolean => {
  // Digests have one length, so the time does not reveal the length of the expected text either.
  const key = 'compared'
  return timingSafeEqual(hmac(key, given), hmac(key, expected))
}

/** The least number of characters of a secret that signs a webhook's requests. */
const secretMinChars = 16
/** The least number of bytes of a key that is encoded in a secret. */
const keyMinBytes = 16

const noSecret = (name: string, most: string): Problem =>
  new Problem('not_ready', 'No secret', `the connection has no ${name} ${most}, so nothing can be checked`, {
    hint: `Set it: PUT /api/databases/<connection> {"database": {"parameters": {"${name}": "…"}}}.`,
  })

/** The secret of a connection, if it is long enough that nobody can guess it. @throws Problem 409 */
export const strongSecret = (secret: unknown, name: string): string => {
  if (typeof secret === 'string' && secret.length >= secretMinChars) return secret
  throw noSecret(name, `of at least ${secretMinChars} characters`)
}

const prefix = 'whsec_'

/** The key in a secret of Standard Webhooks: `whsec_` and base64, or any other text unchanged. @throws Problem 409 */
export const strongKey = (secret: unknown, name: string): Buffer => {
  const text = strongSecret(secret, name)
  if (!text.startsWith(prefix)) return Buffer.from(text)
  const coded = text.slice(prefix.length)
  // Buffer skips characters that are not base64.
  const key = Buffer.from(/^[\w+/-]*={0,2}$/.test(coded) ? coded : '', 'base64')
  if (key.length >= keyMinBytes) return key
  throw noSecret(name, `with at least ${keyMinBytes} bytes in base64 after ${prefix}`)
}

/**
 * The time of a signed request in its header, in whole seconds.
 *
 * @throws Problem 401 when it is missing, no time, or further from now than `webhookClockSkewMaxMs`
 */
export const freshTimestamp = (header: ReadHeader, name: string, now: number): string => {
  const text = header(name) ?? ''
  if (!/^\d{1,12}$/.test(text)) throw badSignature(`the header ${name} is missing or no time in seconds`)
  if (Math.abs(now - Number(text) * 1_000) > limits.webhookClockSkewMaxMs)
    throw badSignature(`the request is too old, or the clocks differ by more than ${limits.webhookClockSkewMaxMs / 1_000} seconds`)
  return text
}
