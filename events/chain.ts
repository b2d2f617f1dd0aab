import { createHash } from 'node:crypto'

/**
 * The chain that makes an edit of the log visible: `leaf = sha256(0x00 ‖ text)`, `chain = sha256(previous chain ‖ leaf)`.
 * The first previous is the hash of the log's random id, so that two logs never share a chain.
 */
export type ChainHash = Buffer

const leafPrefix = Buffer.from([0])

/** The chain before the first event. `genesis('8e0f…')` */
export const genesis = (logId: string): ChainHash => createHash('sha256').update(logId).digest()

/** The hash of one event's stored text (UTF-8 bytes or a string that becomes them). */
export const leafHash = (text: string | Uint8Array): Buffer => createHash('sha256').update(leafPrefix).update(text).digest()

/** The chain after one more event. */
export const nextChain = (previous: ChainHash, text: string | Uint8Array): ChainHash =>
  createHash('sha256').update(previous).update(leafHash(text)).digest()

/** SHA-256 of bytes, in lower-case hex: the name of a blob or payload. */
export const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
