import { sha256Hex } from '../../../events/stored/chain.js'
import type { ErasedPayload } from '../../../events/records/log.js'
import { isBehind, type LogConnection } from '../storage/schema.js'
import type { Vault } from '../../vault/vault.js'
import { firstLine, type Findings } from './findings.js'

/** How many payloads can be read or were erased. Those that were erased later lack the event, because the file of a node is behind. */
export type PayloadCounts = { readable: number; erased: number; erasedLater: number }
type Row = { keyId: string; wrapped: Buffer | null; body: Buffer }

/**
 * Compares payloads with the events that name them. Recorded rows are checked during the walk, so no list of them is kept. Every later
 * event that keeps a secret names it again, so a secret is checked once, at the end. A payload must have no key if an event says that it
 * was erased, and must have its key otherwise. The copy of a node that is behind may have a payload as a later batch left it.
 */
export class PayloadCheck {
  readonly counts: PayloadCounts = { readable: 0, erased: 0, erasedLater: 0 }
  readonly #secrets = new Map<string, number>()
  readonly #withoutKey = new Map<string, number>()
  readonly #erased = new Map<string, number>()
  readonly #select
  #isReadable = true
  #behind: boolean | undefined

  constructor(
    private readonly db: LogConnection,
    private readonly findings: Findings,
    /** Vaults whose keys may wrap the payloads' keys. Without any, those keys are not checked. */
    private readonly vaults: readonly Vault[] = [],
  ) {
    this.#select = db.prepare<[string], Row>('SELECT key_id AS keyId, wrapped, body FROM payloads WHERE hash = ?')
  }

  /** Checks payloads that no other event names. */
  rows(position: number, hashes: readonly string[]): void {
    for (const hash of hashes) this.#look(hash, position)
  }

  /** Notes the payloads that an event names. */
  secrets(position: number, hashes: readonly string[]): void {
    for (const hash of hashes) this.#secrets.set(hash, position)
  }

  /** Notes the payloads that are erased according to an event. */
  erased(position: number, payloads: readonly ErasedPayload[]): void {
    for (const { hash } of payloads) this.#erased.set(hash, position)
  }

  /** Compares the events with the stored payloads, after the last event. */
  finish(): void {
    for (const [hash, position] of this.#secrets) this.#look(hash, position)
    for (const [hash, position] of this.#withoutKey)
      if (this.#erased.has(hash)) this.counts.erased++
      else if (this.#isBehind) this.counts.erasedLater++
      else this.findings.add(position, 'its payload has no key, and no event says that it was erased')
    for (const [hash, position] of this.#erased)
      if (!this.#withoutKey.has(hash) && (this.#row(hash)?.wrapped ?? null) !== null)
        this.findings.add(this.#secrets.get(hash) ?? position, `its payload was erased at position ${position}, but its key is there`)
  }

  #look(hash: string, position: number): void {
    const row = this.#row(hash)
    if (!this.#isReadable) return
    if (!row) this.findings.add(position, 'its payload is missing, not erased')
    else if (row.wrapped === null) this.#withoutKey.set(hash, position)
    else if (this.#erased.has(hash))
      return // reported at the end, with the position of its erasure
    else if (sha256Hex(row.body) !== hash) this.findings.add(position, 'its payload is not the one that it names')
    else if (!this.#isKept(hash, row))
      this.findings.add(position, 'the key of its payload is not one that was wrapped under the master key')
    else this.counts.readable++
  }

  /** Whether the key of a payload is one that was wrapped under the master key; a node that is behind may have it under a later one. */
  #isKept(hash: string, { keyId, wrapped }: Row): boolean {
    const { vaults } = this
    if (vaults.length === 0 || vaults.some((vault) => vault.unwraps({ hash, keyId, wrapped }))) return true
    return !vaults.some((vault) => vault.knows(keyId)) && this.#isBehind
  }

  /** Whether this is the copy of a node that is behind: it may have a payload as a later batch left it. */
  get #isBehind(): boolean {
    return (this.#behind ??= isBehind(this.db))
  }

  #row(hash: string): Row | undefined {
    try {
      return this.#isReadable ? this.#select.get(hash) : undefined
    } catch (error) {
      this.#isReadable = false
      this.findings.add(null, `payloads cannot be read: ${firstLine(error)}`)
      return undefined
    }
  }
}
