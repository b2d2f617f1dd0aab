/** Room: keys, sealed secrets and encrypted payloads. It imports only events, basics and setup. */

import { createHmac, randomBytes, createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { sha256Hex } from '../../events/stored/chain.js'

const ivBytes = 12
const tagBytes = 16
export const masterKeyBytes = 32

/** AES-256-GCM: iv ‖ ciphertext ‖ tag. Decryption needs the same `bound`. */
const encrypt = (key: Uint8Array, plain: Uint8Array, bound = ''): Buffer => {
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

/** A stored payload. Events contain only the hash of `body`; erasing `wrapped` makes it unreadable for ever. */
export type SealedPayload = {
  hash: string
  keyId: string
  wrapped: Buffer
  body: Buffer
  /** In memory only: after a rotation it is wrapped under the new master key. */
  key: Buffer
}

/** A stored key: the id of the master key that wraps it, and the wrapped bytes. */
export type WrappedKey = { keyId: string; wrapped: Buffer }

/**
 * Encrypts data that may have to be erased. Every payload has its own random key (AES-256-GCM), stored wrapped under the master key.
 * Erasing the wrapped key makes the payload unreadable. A new master key only means wrapping again: the ciphertext, whose hash is in
 * the log, never changes. During a rotation the vault knows both master keys.
 *
 * @example const vault = new Vault(randomBytes(32)); vault.open(vault.seal(Buffer.from('sk-1')))?.toString() // 'sk-1'
 */
export class Vault {
  readonly #ring: KeyRing
  #master: MasterKey
  /** The ids of keys that this process has promised to have, and that were not in use since. */
  readonly #promised = new Set<string>()
  #fingerprintKey: Buffer | undefined

  /** Seals with the first key, and opens with all of them. */
  constructor(master: Uint8Array, ...others: readonly Uint8Array[]) {
    this.#master = new MasterKey(master)
    this.#ring = new KeyRing([master, ...others])
  }

  /** The id of the master key that it uses to seal. */
  get keyId(): string {
    return this.#master.id
  }

  /** The known master keys, for other readers of this log. */
  keys(): Buffer[] {
    return this.#ring.keys()
  }

  /** Whether the master key with an id is known. */
  knows(keyId: string): boolean {
    return this.#ring.get(keyId) !== undefined
  }

  /** Adds a key: payloads that it sealed can be opened from now on. Returns its id. */
  add(master: Uint8Array): string {
    this.#ring.add(master)
    return new MasterKey(master).id
  }

  /** Adds a key for a coming rotation: it is kept until it has been in use. Returns its id. */
  promise(master: Uint8Array): string {
    const keyId = this.add(master)
    if (keyId !== this.keyId) this.#promised.add(keyId)
    return keyId
  }

  /** Uses this key to seal from now on. */
  use(keyId: string): void {
    this.#master = this.#key(keyId)
    this.#promised.delete(keyId)
  }

  /** The ids of the keys that stay: the one that seals, and those that were promised for a coming rotation. */
  get keptKeyIds(): string[] {
    return [this.keyId, ...this.#promised]
  }

  /** Forgets all other keys. */
  forgetOthers(): void {
    this.#ring.replace(this.keptKeyIds.map((keyId) => this.masterKey(keyId)))
  }

  /**
   * Encrypts bytes under a new key, which is wrapped under the master key. `hash` is the hash of the ciphertext.
   *
   * @example const { hash, body, keyId, wrapped } = vault.seal(Buffer.from('secret'))
   */
  seal(plain: Uint8Array): SealedPayload {
    const key = randomBytes(masterKeyBytes)
    const body = encrypt(key, plain)
    const hash = sha256Hex(body)
    return { hash, body, key, ...this.wrap(key, hash) }
  }

  /** The plain bytes; undefined when the payload is damaged, its key was erased, or no key here unwraps it. */
  open(payload: StoredPayload): Buffer | undefined {
    return this.#ring.open(payload)
  }

  /** Wraps a key under the master key, or under another known one. `bound` is the purpose of the key. */
  wrap(key: Uint8Array, bound: string, keyId = this.keyId): WrappedKey {
    return { keyId, wrapped: this.#key(keyId).wrap(key, bound) }
  }

  /** A payload's key wrapped under the master key in use; unchanged if it already is. */
  rewrap(hash: string, key: WrappedKey): WrappedKey {
    return key.keyId === this.keyId ? key : this.wrap(this.unwrap(key, hash), hash)
  }

  /** @throws when it was wrapped under an unknown key or for another purpose */
  unwrap({ keyId, wrapped }: WrappedKey, bound: string): Buffer {
    return this.#key(keyId).unwrap(wrapped, bound)
  }

  /** The master key with this id, to be wrapped under its successor. */
  masterKey(keyId: string): Buffer {
    return this.#key(keyId).bytes
  }

  /**
   * The key for request fingerprints. It stays the same when the master key changes, so that repeated requests are recognised after a
   * rotation.
   */
  get fingerprintKey(): Buffer {
    return this.#fingerprintKey ?? this.#master.deriveFingerprintKey()
  }

  set fingerprintKey(key: Buffer) {
    this.#fingerprintKey = key
  }

  /** Whether a payload's key exists and a known master key unwraps it. */
  unwraps({ hash, keyId, wrapped }: Omit<StoredPayload, 'body'>): boolean {
    return wrapped !== null && this.unwrapped({ keyId, wrapped }, hash) !== undefined
  }

  /** The same as `unwrap`; undefined when no known master key unwraps it. */
  unwrapped(key: WrappedKey, bound: string): Buffer | undefined {
    try {
      const plain = this.unwrap(key, bound)
      return plain.length === masterKeyBytes ? plain : undefined
    } catch {
      return undefined
    }
  }

  /** A fingerprint of a text. Equal texts have equal fingerprints. It reveals nothing else, because the text may contain secrets. */
  fingerprint(text: string): string {
    return createHmac('sha256', this.fingerprintKey).update(text).digest('hex')
  }

  #key(keyId: string): MasterKey {
    const key = this.#ring.get(keyId)
    if (!key) throw new RangeError(`the master key ${keyId} is not at hand`)
    return key
  }
}
