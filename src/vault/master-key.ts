import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { sha256Hex } from '../../events/stored/chain.js'

const ivBytes = 12
const tagBytes = 16
export const masterKeyBytes = 32

/** AES-256-GCM: iv ‖ ciphertext ‖ tag. Decryption needs the same `bound`. */
export const encrypt = (key: Uint8Array, plain: Uint8Array, bound = ''): Buffer => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound))
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** @throws when key, bytes or `bound` differ from those of the encryption */
const decrypt = (key: Uint8Array, sealed: Buffer, bound = ''): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes)).setAAD(Buffer.from(bound))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()])
}

const derive = (master: Uint8Array, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', master, '', `mindledger/${purpose}/1`, 32))

/** A key that wraps other keys. Its id identifies it without revealing it. */
export class MasterKey {
  readonly bytes: Buffer
  readonly id: string
  readonly #wrapping: Buffer

  constructor(bytes: Uint8Array) {
    if (bytes.length !== masterKeyBytes) throw new RangeError(`a master key has ${masterKeyBytes} bytes, not ${bytes.length}`)
    this.bytes = Buffer.from(bytes)
    this.id = sha256Hex(derive(bytes, 'key-id')).slice(0, 16)
    this.#wrapping = derive(bytes, 'wrap')
  }

  /** `bound` is the purpose of the key: a key wrapped for one purpose does not unwrap for another. */
  wrap(key: Uint8Array, bound: string): Buffer {
    return encrypt(this.#wrapping, key, bound)
  }

  /** @throws when it was wrapped by another master key or for another purpose */
  unwrap(wrapped: Buffer, bound: string): Buffer {
    return decrypt(this.#wrapping, wrapped, bound)
  }

  /** The key for request fingerprints of logs that have no separate key for these. */
  deriveFingerprintKey(): Buffer {
    return derive(this.bytes, 'fingerprint')
  }
}

/** A stored payload whose key may have been erased. */
export type StoredPayload = { hash: string; keyId: string; wrapped: Buffer | null; body: Buffer }

/** The known master keys: normally one, none if only events are read, and two during a rotation. */
export class KeyRing {
  #keys: ReadonlyMap<string, MasterKey>

  constructor(masters: readonly Uint8Array[]) {
    this.#keys = keyed(masters)
  }

  /** The master key with an id; undefined when it is not known. */
  get(keyId: string): MasterKey | undefined {
    return this.#keys.get(keyId)
  }

  /** The bytes of all known master keys. */
  keys(): Buffer[] {
    return [...this.#keys.values()].map(({ bytes }) => bytes)
  }

  /** Adds keys: payloads that they sealed can be opened from now on. */
  add(...masters: readonly Uint8Array[]): void {
    this.#keys = new Map([...this.#keys, ...keyed(masters)])
  }

  /** Replaces the known keys by these. */
  replace(masters: readonly Uint8Array[]): void {
    this.#keys = keyed(masters)
  }

  /** The decrypted bytes; undefined when the payload is damaged, its key was erased, or no known key unwraps it. */
  open({ hash, keyId, wrapped, body }: StoredPayload): Buffer | undefined {
    const master = this.#keys.get(keyId)
    if (wrapped === null || !master) return undefined
    try {
      return decrypt(master.unwrap(wrapped, hash), body)
    } catch {
      // Every reader handles an unreadable payload; the verifier reports the damage.
      return undefined
    }
  }
}

const keyed = (masters: readonly Uint8Array[]): ReadonlyMap<string, MasterKey> =>
  new Map(
    masters.map((bytes) => {
      const key = new MasterKey(bytes)
      return [key.id, key]
    }),
  )
