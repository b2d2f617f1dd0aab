import { decrypt, MasterKey } from './master-key.js'

/** A stored payload whose key may have been erased. */
export type StoredPayload = { hash: string; keyId: string; wrapped: Buffer | null; body: Buffer }

/** The known master keys: one, none if only the events are read, and two during a rotation. */
export class KeyRing {
  #keys: ReadonlyMap<string, MasterKey>

  constructor(masters: readonly Uint8Array[]) {
    this.#keys = keyed(masters)
  }

  get(keyId: string): MasterKey | undefined {
    return this.#keys.get(keyId)
  }

  keys(): Buffer[] {
    return [...this.#keys.values()].map(({ bytes }) => bytes)
  }

  add(...masters: readonly Uint8Array[]): void {
    this.#keys = new Map([...this.#keys, ...keyed(masters)])
  }

  /** From now on only these keys are known. */
  replace(masters: readonly Uint8Array[]): void {
    this.#keys = keyed(masters)
  }

  /** The plain bytes; undefined when the payload is damaged, its key was erased, or no key here unwraps it. */
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
