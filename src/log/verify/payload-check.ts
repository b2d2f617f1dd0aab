import { sha256Hex } from '../../../events/chain.js'
import { isObject, type Json } from '../../../events/common.js'
import type { Connection } from '../sqlite/schema.js'
import { firstLine, type Findings } from './findings.js'

export type PayloadCounts = { readable: number; erased: number }

/**
 * Compares payloads with the events that name them. Recorded rows are looked at as the walk comes by, so that no list of
 * them is kept; a secret is named by every later event that carries it on, and looked at once. One without its key is in
 * order where an event says that it was erased, and what replaces it must be there.
 */
export class PayloadCheck {
  readonly counts: PayloadCounts = { readable: 0, erased: 0 }
  readonly #secrets = new Map<string, number>()
  readonly #withoutKey = new Map<string, number>()
  readonly #erased = new Set<string>()
  readonly #replacements = new Map<string, number>()
  readonly #select
  #unreadable = false

  constructor(
    db: Connection,
    private readonly findings: Findings,
  ) {
    this.#select = db.prepare<[string], { hasKey: number; body: Buffer }>(
      'SELECT wrapped IS NOT NULL AS hasKey, body FROM payloads WHERE hash = ?',
    )
  }

  rows(position: number, hashes: readonly string[]): void {
    for (const hash of hashes) this.#look(hash, position)
  }

  secrets(position: number, hashes: readonly string[]): void {
    for (const hash of hashes) this.#secrets.set(hash, position)
  }

  /** What a DataErased event says of payloads. */
  erased(position: number, payloads: Json | undefined): void {
    for (const payload of Array.isArray(payloads) ? payloads : []) {
      if (!isObject(payload)) continue
      const { hash, replacement } = payload
      if (typeof hash === 'string') this.#erased.add(hash)
      if (typeof replacement === 'string') this.#replacements.set(replacement, position)
    }
  }

  finish(): void {
    for (const [hash, position] of this.#secrets) this.#look(hash, position)
    for (const [hash, position] of this.#replacements) this.#look(hash, position)
    for (const [hash, position] of this.#withoutKey)
      if (this.#erased.has(hash)) this.counts.erased++
      else this.findings.add(position, 'its payload lost its key, and no event says that it was erased')
  }

  #look(hash: string, position: number): void {
    if (this.#unreadable) return
    try {
      const row = this.#select.get(hash)
      if (!row) this.findings.add(position, 'its payload is missing, not erased')
      else if (!row.hasKey) this.#withoutKey.set(hash, position)
      else if (sha256Hex(row.body) === hash) this.counts.readable++
      else this.findings.add(position, 'its payload is not the one that it names')
    } catch (error) {
      this.#unreadable = true
      this.findings.add(null, `payloads cannot be read: ${firstLine(error)}`)
    }
  }
}
