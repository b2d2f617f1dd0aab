import { parseEnvelope } from '../../../events/stored/envelope.js'
import { codeFingerprint } from '../../setup/package.js'
import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { StoredEvent } from '../contract/log.js'
import { ResourceTable } from '../storage/resource-table.js'
import { readMeta, writeMeta, type LogConnection } from '../storage/schema.js'

/** Rebuilds `resources` and `links` from the events, in one transaction. Returns the number of events. */
export const rebuildResources = (db: LogConnection): number => {
  const table = new ResourceTable(db)
  const page = db.prepare<[number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT 1000')
  return db.transaction(() => {
    db.exec('DELETE FROM links; DELETE FROM resources')
    let position = 0
    for (let events = page.all(0); events.length > 0; events = page.all(position))
      for (const { text } of events) {
        const envelope = parseEnvelope(text)
        table.apply(envelope.stream, envelope.version, envelope.position, envelope.recorded_at, currentEvent(envelope))
        position = envelope.position
      }
    writeMeta(db, 'resources_built_by', codeFingerprint())
    return position
  })()
}

/** Rebuilds `resources` if code other than today's built them. */
export const ensureResources = (db: LogConnection): void => {
  if (readMeta(db, 'resources_built_by') !== codeFingerprint()) rebuildResources(db)
}
