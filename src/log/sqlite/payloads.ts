import type { StoredPayload, Vault } from '../../vault/vault.js'
import type { Connection } from './schema.js'

export type PayloadReader = (hash: string) => Buffer | undefined

type Row = { hash: string; keyId: string; wrapped: Buffer | null; body: Buffer }

/** Reads payloads in plain; undefined for one that was erased or never was. */
export const payloadReader = (db: Connection, vault: Vault): PayloadReader => {
  const select = db.prepare<[string], Row>('SELECT hash, key_id AS keyId, wrapped, body FROM payloads WHERE hash = ?')
  return (hash) => {
    const stored: StoredPayload | undefined = select.get(hash)
    return stored && vault.open(stored)
  }
}
