import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { SealedPayload, Vault } from './vault.js'

/** A stream may cut a surrogate pair in two. Half of a pair is no character, and SQL would refuse the whole payload because of it. */
export const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value)

/** Seals the bytes of a record. @throws Problem too_large */
export const sealBytes = (vault: Pick<Vault, 'seal'>, bytes: Buffer): SealedPayload => {
  if (bytes.length > limits.payloadMaxBytes)
    throw new Problem('too_large', 'Too large', `the record has more than ${limits.payloadMaxBytes} bytes (payloadMaxBytes)`, {
      hint: 'Ask for less at a time.',
    })
  return vault.seal(bytes)
}

/**
 * Seals a small record as JSON text.
 *
 * @example
 * const payload = sealJson(ledger.vault, { comment })
 * await ledger.execute({ type: 'JudgeAnswer', data: { …, payload: payload.hash } }, origin, { payloads: [payload] })
 * @throws Problem too_large
 */
export const sealJson = (vault: Pick<Vault, 'seal'>, record: unknown): SealedPayload =>
  sealBytes(vault, Buffer.from(JSON.stringify(record, wellFormed)))
