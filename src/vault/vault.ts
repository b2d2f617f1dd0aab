import { createHmac, randomBytes } from 'node:crypto'
import { sha256Hex } from '../../events/stored/chain.js'
import { KeyRing, type StoredPayload } from './key-ring.js'
import { encrypt, MasterKey, masterKeyBytes } from './master-key.js'

/** A payload as it is stored: only `body` is named by an event; erasing `wrapped` makes it unreadable for ever. */
export type SealedPayload = { hash: string; keyId: string; wrapped: Buffer; body: Buffer }

/** A key as it is kept: which master key wraps it, and what came of that. */
export type WrappedKey = { keyId: string; wrapped: Buffer }

/**
 * Encrypts what may have to be erased. Every payload has a random key of its own (AES-256-GCM), kept wrapped under the
 * master key: forgetting the wrapped key shreds the payload, and another master key means wrapping again, while the
 * ciphertext, whose hash the log names, never changes. While master keys are rotated it knows both.
 *
 * @example const vault = new Vault(randomBytes(32)); vault.open(vault.seal(Buffer.from('sk-1')))?.toString() // 'sk-1'
 */
export class Vault {
  readonly #ring: KeyRing
  #master: MasterKey
  #fingerprintKey: Buffer | undefined

  /** Seals with the first of the keys, and opens with all of them. */
  constructor(master: Uint8Array, ...others: readonly Uint8Array[]) {
    this.#master = new MasterKey(master)
    this.#ring = new KeyRing([master, ...others])
  }

  /** Names the master key that it seals with. */
  get keyId(): string {
    return this.#master.id
  }

  /** The master keys that it knows, for other readers of this log. */
  keys(): Buffer[] {
    return this.#ring.keys()
  }

  knows(keyId: string): boolean {
    return this.#ring.get(keyId) !== undefined
  }

  /** Opens what this key has sealed, too, from now on. Gives its id. */
  add(master: Uint8Array): string {
    this.#ring.add(master)
    return new MasterKey(master).id
  }

  /** Seals with this key from now on. */
  use(keyId: string): void {
    this.#master = this.#key(keyId)
  }

  /** Keeps only the key that it seals with. */
  forgetOthers(): void {
    this.#ring.replace([this.#master.bytes])
  }

  seal(plain: Uint8Array): SealedPayload {
    const key = randomBytes(masterKeyBytes)
    const body = encrypt(key, plain)
    const hash = sha256Hex(body)
    return { hash, body, ...this.wrap(key, hash) }
  }

  open(payload: StoredPayload): Buffer | undefined {
    return this.#ring.open(payload)
  }

  /** Wraps a key under the master key, or under another one that it knows. `bound` says what for. */
  wrap(key: Uint8Array, bound: string, keyId = this.keyId): WrappedKey {
    return { keyId, wrapped: this.#key(keyId).wrap(key, bound) }
  }

  /** A payload's key as the master key wraps it: the same where that has wrapped it. */
  rewrap(hash: string, key: WrappedKey): WrappedKey {
    return key.keyId === this.keyId ? key : this.wrap(this.unwrap(key, hash), hash)
  }

  /** @throws when it was wrapped under a key that is not known, or for something else */
  unwrap({ keyId, wrapped }: WrappedKey, bound: string): Buffer {
    return this.#key(keyId).unwrap(wrapped, bound)
  }

  /** The master key of this id itself; for wrapping it under the one that follows it. */
  masterKey(keyId: string): Buffer {
    return this.#key(keyId).bytes
  }

  /** What requests are fingerprinted with. It outlives master keys, so that a key sent again after a rotation is known. */
  get fingerprintKey(): Buffer {
    return this.#fingerprintKey ?? this.#master.deriveFingerprintKey()
  }

  set fingerprintKey(key: Buffer) {
    this.#fingerprintKey = key
  }

  /** Whether a payload's key is there and is the one that was wrapped for it under a master key that is known. */
  unwraps({ hash, keyId, wrapped }: Omit<StoredPayload, 'body'>): boolean {
    if (wrapped === null) return false
    try {
      return this.unwrap({ keyId, wrapped }, hash).length === masterKeyBytes
    } catch {
      return false
    }
  }

  /** Tells whether two texts are the same without telling anything of them: they may hold secrets. */
  fingerprint(text: string): string {
    return createHmac('sha256', this.fingerprintKey).update(text).digest('hex')
  }

  #key(keyId: string): MasterKey {
    const key = this.#ring.get(keyId)
    if (!key) throw new RangeError(`the master key ${keyId} is not at hand`)
    return key
  }
}
