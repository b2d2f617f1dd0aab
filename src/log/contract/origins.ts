import type { Envelope } from '../../../events/stored/envelope.js'
import type { Origin } from './log.js'

/** How an event is named as the cause of what follows from it. `causeAt(12)` → `event/12` */
export const causeAt = (position: number): string => `event/${position}`

/** The origin of what the service does by itself. `unasked({ actor: 'system', source: 'system' })` */
const unasked = (who: Pick<Origin, 'actor' | 'source'>): Origin => ({ ...who, request: null, correlation: null, causation: null })

/** The origin of what the service does by itself. */
export const systemOrigin = unasked({ actor: 'system', source: 'system' })

/** The origin of what a command of the CLI does without a server. */
export const cliOrigin = unasked({ actor: 'cli', source: 'cli' })

/**
 * The origin of what the service does by itself because of an event: it belongs to the event's request, and the event caused it.
 *
 * @example following({ actor: 'trainer', source: 'system' }, requested) // { …, correlation: 'r-1', causation: 'event/12' }
 */
export const causedBy = (who: Pick<Origin, 'actor' | 'source'>, cause: Envelope | undefined): Origin => ({
  ...who,
  request: null,
  correlation: cause?.correlation ?? cause?.request ?? null,
  causation: cause ? causeAt(cause.position) : null,
  ...(cause?.traceparent !== undefined && { traceparent: cause.traceparent }),
})
