import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { sha256Hex } from '../../events/chain.js'

/** A payload as it is stored: only `body` is named by an event; erasing `wrapped` makes it unreadable for ever. */
export type SealedPayload = { hash: string; keyId: string; wrapped: Buffer; body: Buffer }
/** A stored payload whose key may have been erased. */
export type StoredPayload = { hash: string; keyId: string; wrapped: Buffer | null; body: Buffer }

const ivBytes = 12
const tagBytes = 16
export const masterKeyBytes = 32

const encrypt = (key: Uint8Array, plain: Uint8Array, bound = ''): Buffer => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound))
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

const decrypt = (key: Uint8Array, sealed: Buffer, bound = ''): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes)).setAAD(Buffer.from(bound))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()])
}

/**
 * Encrypts what may have to be erased. Every payload has a random key of its own (AES-256-GCM), kept wrapped under the
 * master key: forgetting the wrapped key shreds the payload, and another master key means wrapping again, while the
 * ciphertext, whose hash the log names, never changes.
 *
 * @example const vault = new Vault(randomBytes(32)); vault.open(vault.seal(Buffer.from('sk-1')))?.toString() // 'sk-1'
 */
export class Vault {
  /** Names the master key without telling it. */
  readonly keyId: string
  readonly #wrappingKey: Uint8Array
  readonly #fingerprintKey: Uint8Array

  constructor(master: Uint8Array) {
    if (master.length !== masterKeyBytes) throw new RangeError(`a master key has ${masterKeyBytes} bytes, not ${master.length}`)
    this.keyId = sha256Hex(new Uint8Array(hkdfSync('sha256', master, '', 'mindledger/key-id/1', 32))).slice(0, 16)
    this.#wrappingKey = new Uint8Array(hkdfSync('sha256', master, '', 'mindledger/wrap/1', 32))
    this.#fingerprintKey = new Uint8Array(hkdfSync('sha256', master, '', 'mindledger/fingerprint/1', 32))
  }

  seal(plain: Uint8Array): SealedPayload {
    const key = randomBytes(masterKeyBytes)
    const body = encrypt(key, plain)
    const hash = sha256Hex(body)
    return { hash, keyId: this.keyId, wrapped: encrypt(this.#wrappingKey, key, hash), body }
  }

  /** The plain bytes; undefined when the payload's key was erased or is wrapped under another master key, or it is damaged. */
  open({ hash, keyId, wrapped, body }: StoredPayload): Buffer | undefined {
    if (wrapped === null || keyId !== this.keyId) return undefined
    try {
      return decrypt(decrypt(this.#wrappingKey, wrapped, hash), body)
    } catch {
      // Unreadable is a state that every reader knows; that it is damaged is for the verifier to say.
      return undefined
    }
  }

  /** Whether a payload's key is there and is the one that was wrapped for it under this master key. */
  unwraps({ hash, keyId, wrapped }: Omit<StoredPayload, 'body'>): boolean {
    if (wrapped === null || keyId !== this.keyId) return false
    try {
      return decrypt(this.#wrappingKey, wrapped, hash).length === masterKeyBytes
    } catch {
      return false
    }
  }

  /** Tells whether two texts are the same without telling anything of them: they may hold secrets. */
  fingerprint(text: string): string {
    return createHmac('sha256', this.#fingerprintKey).update(text).digest('hex')
  }
}
