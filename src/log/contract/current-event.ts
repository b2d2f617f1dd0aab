import { upcast, type LedgerEvent } from '../../../events/catalogue.js'
import type { Envelope } from '../../../events/envelope.js'

/** The event in today's shape, whatever release wrote it. */
export const currentEvent = (envelope: Envelope): LedgerEvent =>
  ({ type: envelope.type, data: upcast(envelope.type, envelope.schema, envelope.data) }) as unknown as LedgerEvent
