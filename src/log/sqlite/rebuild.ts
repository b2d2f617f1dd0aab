import { codeFingerprint } from '../../setup/package.js'
import type { StoredEvent } from '../contract/log.js'
import { ResourceTable } from '../storage/resource-table.js'
import { readMeta, writeMeta, type LogConnection } from '../storage/schema.js'
import { BlockingEventError, envelopeAt, folding, knownEvent } from './blocking-event-error.js'

/**
 * Rebuilds `resources` and `links` from the events, in one transaction. Returns the number of events.
 *
 * @throws ConfigError when a newer release wrote one of them
 */
export const rebuildResources = (db: LogConnection): number => {
  const table = new ResourceTable(db)
  const page = db.prepare<[number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT 1000')
  const rebuild = db.transaction(() => {
    db.exec('DELETE FROM links; DELETE FROM resources')
    let last = 0
    for (let events = page.all(0); events.length > 0; events = page.all(last))
      for (const { position, text } of events) {
        const envelope = envelopeAt(position, text)
        const event = knownEvent(envelope)
        folding(envelope, () => table.apply(envelope.stream, envelope.version, position, envelope.recorded_at, event))
        last = position
      }
    writeMeta(db, 'resources_built_by', codeFingerprint())
    return last
  })
  try {
    return rebuild()
  } catch (error) {
    throw error instanceof BlockingEventError ? error.endingStart('start') : error
  }
}

/** Rebuilds `resources` if code other than today's built them. @throws ConfigError when a newer release wrote an event */
export const ensureResources = (db: LogConnection): void => {
  if (readMeta(db, 'resources_built_by') !== codeFingerprint()) rebuildResources(db)
}
