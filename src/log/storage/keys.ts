import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import type { MasterKeyRotated } from '../../../events/records/log.js'
import { ConfigError } from '../../setup/config.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { masterKeyBytes, Vault, type WrappedKey } from '../../vault/vault.js'
import type { Rotation } from '../contract/log.js'
import { readMeta, writeMeta, type LogConnection } from './schema.js'

const fingerprintKey = 'fingerprint key'
const previousKey = 'previous master key'
const replyKey = 'key of kept replies'

/** The note of the key that seals the kept replies with rows. All nodes of a shared log need it. */
export const replyKeyNote = 'reply_key'

/** A key in `meta`. The previous master key is wrapped under the next one, so a process that has only the next key can continue. */
const wrappedSchema = z.object({ key_id: z.string(), wrapped: z.string() })
const rotationSchema = z.object({ from: z.string(), to: z.string(), payloads: z.number(), previous: wrappedSchema })
type StoredRotation = z.infer<typeof rotationSchema>

const stored = ({ keyId, wrapped }: WrappedKey) => ({ key_id: keyId, wrapped: wrapped.toString('base64') })
const asKey = ({ key_id, wrapped }: z.infer<typeof wrappedSchema>): WrappedKey => ({
  keyId: key_id,
  wrapped: Buffer.from(wrapped, 'base64'),
})

const readStored = (db: LogConnection): StoredRotation | undefined => {
  const text = readMeta(db, 'rotation')
  return text === undefined ? undefined : rotationSchema.parse(JSON.parse(text))
}

/** The current rotation, if there is one; `payloads` is the number of payloads that are done. */
export const readRotation = (db: LogConnection): Rotation | undefined => {
  const found = readStored(db)
  return found && { from: found.from, to: found.to, payloads: found.payloads }
}

/** The ids of the master keys of a log's payloads. During a rotation there are two, the new one first. */
export const masterKeyIds = (db: LogConnection): string[] => [readRotation(db)?.to, readMeta(db, 'key_id')].filter((id) => id !== undefined)

/** Prepares the test whether a rotation from a master key to another one has ended. */
const prepareHasEnded = (db: LogConnection): ((from: string) => boolean) => {
  const ended = db.prepare(`SELECT 1 FROM events WHERE stream = 'log' AND type = 'MasterKeyRotated' AND text ->> '$.data.from' = ?`)
  return (from) => ended.get(from) !== undefined
}

/** Whether the key of a payload is wrapped under a master key that the log does not have yet. */
export const hasLaterKeys = (db: LogConnection): boolean => {
  const known = masterKeyIds(db)
  const hasEnded = prepareHasEnded(db)
  const used = db.prepare<[], string>('SELECT DISTINCT key_id FROM payloads WHERE wrapped IS NOT NULL').pluck().all()
  return used.some((id) => !known.includes(id) && !hasEnded(id))
}

/**
 * Prepares the test whether the key of a payload is lost. It is lost if a rotation has ended that could not unwrap it. If only its master
 * key is missing here, the payload can be read where this master key is.
 *
 * @example prepareIsKeyLost(db)({ hash: '8e0f…', keyId: '66687aadf862bd77' }) // true
 */
export const prepareIsKeyLost = (db: LogConnection): ((payload: { hash: string; keyId: string }) => boolean) => {
  const hasEnded = prepareHasEnded(db)
  const still = db.prepare('SELECT 1 FROM payloads WHERE hash = ? AND key_id = ?')
  // The order matters: if the rotation ends just now, it has wrapped the key again.
  return ({ hash, keyId }) => !masterKeyIds(db).includes(keyId) && hasEnded(keyId) && still.get(hash, keyId) !== undefined
}

/** The previous master key. A reader does not have it during a rotation; the next key unwraps it. */
export const readPreviousKey = (db: LogConnection, unwrap: (key: WrappedKey, bound: string) => Buffer | undefined): Buffer | undefined => {
  const rotation = readStored(db)
  return rotation && unwrap(asKey(rotation.previous), previousKey)
}

/** Gives the vault the keys of this log, and selects the key for sealing. A log without a key takes the vault's key. */
export const openKeys = (db: LogConnection, vault: Vault): void => {
  const rotation = readStored(db)
  if (rotation) useBoth(rotation, vault)
  else useOwn(db, vault)
  const kept = readMeta(db, 'fingerprint_key')
  if (kept !== undefined) vault.fingerprintKey = vault.unwrap(asKey(wrappedSchema.parse(JSON.parse(kept))), fingerprintKey)
  else keepFingerprintKey(db, vault)
}

const useOwn = (db: LogConnection, vault: Vault): void => {
  db.prepare(`INSERT OR IGNORE INTO meta VALUES ('key_id', ?)`).run(vault.keyId)
  const keyId = readMeta(db, 'key_id') ?? ''
  if (!vault.knows(keyId))
    throw new ConfigError(
      `this log is sealed with the master key ${keyId}, not with ${vault.keyId}. Set VAULT_KEY to the right key, or unset it to use the data directory's.`,
    )
  vault.use(keyId)
}

const useBoth = ({ from, to, previous }: StoredRotation, vault: Vault): void => {
  if (!vault.knows(to))
    throw new ConfigError(
      `the master key of this log is being changed from ${from} to ${to}, which is not at hand. Set VAULT_KEY to the new key, or unset it to use the data directory's.`,
    )
  vault.add(vault.unwrap(asKey(previous), previousKey))
  vault.use(to)
}

/** Fingerprints of stored answers come from the first master key. Without stored answers, the key of fingerprints may change. */
const keepFingerprintKey = (db: LogConnection, vault: Vault): void => {
  const hasAnswers = db.prepare('SELECT 1 FROM answers LIMIT 1').get() !== undefined
  vault.fingerprintKey = hasAnswers ? vault.fingerprintKey : randomBytes(masterKeyBytes)
  writeFingerprintKey(db, vault)
}

const writeFingerprintKey = (db: LogConnection, vault: Vault): void =>
  writeMeta(db, 'fingerprint_key', JSON.stringify(stored(vault.wrap(vault.fingerprintKey, fingerprintKey))))

/**
 * Notes the beginning of a rotation to another master key, which the vault knows. If a rotation has begun meanwhile, that one stays: its
 * note has the only copy of the previous key. @throws Problem when the key is in use already
 */
export const beginRotation = (db: LogConnection, vault: Vault, to: string): Rotation => {
  const under = readRotation(db)
  if (under) return under
  if (readMeta(db, 'key_id') === to) throw wrong('the next master key is the one in use', 'Give another one.')
  const from = vault.keyId
  const previous = stored(vault.wrap(vault.masterKey(from), previousKey, to))
  writeMeta(db, 'rotation', JSON.stringify({ from, to, payloads: 0, previous } satisfies StoredRotation))
  return { from, to, payloads: 0 }
}

type Row = { id: number; hash: string; keyId: string; wrapped: Buffer | null; bytes: number }

/** The rows that one step may write while other work waits. SQLite also reads a row's ciphertext to write its key. */
const someAfter = (db: LogConnection, after: number): Row[] => {
  const rows = db
    .prepare<[number, number], Row>(
      'SELECT id, hash, key_id AS keyId, wrapped, length(body) AS bytes FROM payloads WHERE id > ? ORDER BY id LIMIT ?',
    )
    .all(after, limits.rotationBatchMaxPayloads)
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += row.bytes) > limits.rotationBatchMaxBytes)
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}

/**
 * Rewraps the keys of some payloads in order, beginning after a row's id. Returns the id of the last one; undefined when none were left.
 */
export const rewrapSome = (db: LogConnection, vault: Vault, after: number): number | undefined => {
  const update = db.prepare<[string, Buffer, number]>('UPDATE payloads SET key_id = ?, wrapped = ? WHERE id = ?')
  const rows = someAfter(db, after)
  let done = 0
  for (const { id, hash, keyId, wrapped } of rows) {
    // A key that no master key unwraps is already lost, and verify reports it. The old key must not stay in use because of it.
    if (wrapped === null || keyId === vault.keyId || !vault.unwraps({ hash, keyId, wrapped })) continue
    const anew = vault.rewrap(hash, { keyId, wrapped })
    update.run(anew.keyId, anew.wrapped, id)
    done++
  }
  const rotation = readStored(db)
  if (rotation && done > 0) writeMeta(db, 'rotation', JSON.stringify({ ...rotation, payloads: rotation.payloads + done }))
  return rows.at(-1)?.id
}

const readReplyKey = (db: LogConnection): WrappedKey | undefined => {
  const text = readMeta(db, replyKeyNote)
  return text === undefined ? undefined : asKey(wrappedSchema.parse(JSON.parse(text)))
}

const writeReplyKey = (db: LogConnection, key: WrappedKey): void => writeMeta(db, replyKeyNote, JSON.stringify(stored(key)))

/** The vault of the kept replies with rows; undefined if an erasure forgot its key, or if no key here unwraps it. */
export const openReplyVault = (db: LogConnection, vault: Vault): Vault | undefined => {
  const wrapped = readReplyKey(db)
  const key = wrapped && vault.unwrapped(wrapped, replyKey)
  return key && new Vault(key)
}

/** The same vault for writing, with a new key if there is none. */
export const replyVault = (db: LogConnection, vault: Vault): Vault => {
  const open = openReplyVault(db, vault)
  if (open) return open
  const key = randomBytes(masterKeyBytes)
  writeReplyKey(db, vault.wrap(key, replyKey))
  return new Vault(key)
}

/** Forgets the key of the kept replies with rows: nobody can read them any more, whatever copies of them are left. */
export const forgetReplyKey = (db: LogConnection): void => void db.prepare('DELETE FROM meta WHERE key = ?').run(replyKeyNote)

/** Ends a rotation, in the transaction of the event that records it. */
export const prepareEndRotation =
  (db: LogConnection, vault: Vault) =>
  ({ to }: MasterKeyRotated): void => {
    writeMeta(db, 'key_id', to)
    writeFingerprintKey(db, vault)
    const replies = readReplyKey(db)
    if (replies && vault.unwraps({ hash: replyKey, ...replies })) writeReplyKey(db, vault.rewrap(replyKey, replies))
    db.prepare(`DELETE FROM meta WHERE key = 'rotation'`).run()
  }
