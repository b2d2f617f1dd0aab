import { erasedPayloadsOf } from '../../../events/catalogue/references.js'
import { logStream } from '../../../events/records/log.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { hasLaterKeys } from './keys.js'
import { isBehind, type LogConnection } from './schema.js'

/** Whether a payload has no key, and no event here says that it was erased. */
const hasLaterErasures = (db: LogConnection): boolean => {
  const texts = db.prepare<[string], string>(`SELECT text FROM events WHERE stream = ? AND type = 'DataErased'`).pluck()
  const keyless = new Set(db.prepare<[], string>('SELECT hash FROM payloads WHERE wrapped IS NULL').pluck().iterate())
  for (const text of texts.iterate(logStream)) {
    const { type, data } = parseEnvelope(text)
    for (const { hash } of erasedPayloadsOf(type, data)) keyless.delete(hash)
  }
  return keyless.size > 0
}

/**
 * Whether the copy of a shared log has a payload as a later batch left it that the copy does not have yet: erased, or with its key wrapped
 * under the next master key. Such a copy is not a log of its own.
 */
export const hasLaterPayloads = (db: LogConnection): boolean => isBehind(db) && (hasLaterErasures(db) || hasLaterKeys(db))
