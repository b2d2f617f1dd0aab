import { catalogue, type EventType } from '../events/catalogue/catalogue.js'
import { anyForeign } from '../events/foreign.js'
import type { Projection } from './contract/projection.js'

const isEventType = (type: string): type is EventType => catalogue.has(type)

/** The log itself, one row per event, its data in today's schema; foreign events unchanged. */
export const events: Projection = {
  name: 'events',
  canHandle: [...[...catalogue.keys()].filter(isEventType), anyForeign],
  init: `
    CREATE TABLE ledger.events (
      position BIGINT NOT NULL, stream VARCHAR NOT NULL, version BIGINT NOT NULL, type VARCHAR NOT NULL, schema INTEGER NOT NULL,
      recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR, correlation VARCHAR,
      causation VARCHAR, traceparent VARCHAR, data JSON NOT NULL
    )`,
  evolve: [`INSERT INTO ledger.events SELECT * FROM batch`],
}
