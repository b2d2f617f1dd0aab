import { upcast, type LedgerEvent } from '../../../events/catalogue.js'
import { isForeignType, type ForeignEvent } from '../../../events/foreign.js'
import type { Envelope } from '../../../events/stored/envelope.js'

/** The event in today's schema, whatever release wrote it; a foreign event unchanged. */
export const currentEvent = ({ type, schema, data }: Envelope): LedgerEvent | ForeignEvent =>
  isForeignType(type) ? { type, data } : ({ type, data: upcast(type, schema, data) } as unknown as LedgerEvent)
