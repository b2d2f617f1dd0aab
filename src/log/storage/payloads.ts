import type { ErasedPayload } from '../../../events/records/log.js'
import type { StoredPayload } from '../../vault/vault.js'
import type { PayloadState } from '../contract/log.js'
import type { LogConnection } from './schema.js'

export type PayloadReader = (hash: string) => Buffer | undefined

/** `replaced_by` is missing in a file that was never opened for writing by a release with erasures. */
type Row = { hash: string; key_id: string; wrapped: Buffer | null; body: Buffer; replaced_by?: string | null }

const prepareFind = (db: LogConnection): ((hash: string) => Row | undefined) => {
  const select = db.prepare<[string], Row>('SELECT * FROM payloads WHERE hash = ?')
  return (hash) => select.get(hash)
}

/** Reads payloads in plain. A partly erased payload gives its replacement; an erased payload, or one that never existed, is undefined. */
export const payloadReader = (db: LogConnection, keys: { open: (stored: StoredPayload) => Buffer | undefined }): PayloadReader => {
  const find = prepareFind(db)
  return (hash) => {
    const named = find(hash)
    const row = named?.replaced_by ? find(named.replaced_by) : named
    const stored: StoredPayload | undefined = row && { hash: row.hash, keyId: row.key_id, wrapped: row.wrapped, body: row.body }
    return stored && keys.open(stored)
  }
}

/** Reads the state of payloads; undefined for a payload that never existed. */
export const payloadStates = (db: LogConnection): ((hash: string) => PayloadState | undefined) => {
  const hasReplacements = db.prepare(`SELECT 1 FROM pragma_table_info('payloads') WHERE name = 'replaced_by'`).get() !== undefined
  const select = db.prepare<[string], { isErased: 0 | 1; replacedBy: string | null; bytes: number }>(
    `SELECT wrapped IS NULL AS isErased, ${hasReplacements ? 'replaced_by' : 'NULL'} AS replacedBy, length(body) AS bytes
     FROM payloads WHERE hash = ?`,
  )
  return (hash) => {
    const row = select.get(hash)
    return row && { ...row, isErased: row.isErased === 1 }
  }
}

/**
 * Removes keys and ciphertexts, in the transaction of the event that records this. Only the hash stays in the file.
 *
 * @example prepareErase(db)({ hash: '8e0f…', replacement: null })
 */
export const prepareErase = (db: LogConnection): ((erased: ErasedPayload) => void) => {
  const erase = db.prepare<[string | null, string]>(`UPDATE payloads SET wrapped = NULL, body = x'', replaced_by = ? WHERE hash = ?`)
  return ({ hash, replacement }) => void erase.run(replacement, hash)
}
