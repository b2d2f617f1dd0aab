import type { Envelope } from '../../../events/stored/envelope.js'
import type { Origin } from './log.js'

/** The name of an event as the cause of another. `causeAt(12)` → `event/12` */
export const causeAt = (position: number): string => `event/${position}`

/** The position of the event that caused another one; 0 when no event did. */
export const causingPosition = ({ causation }: Pick<Envelope, 'causation'>): number =>
  Number(/^event\/(\d+)$/.exec(causation ?? '')?.[1] ?? 0)

/** An origin without a request. `unasked({ actor: 'system', source: 'system' })` */
const unasked = (who: Pick<Origin, 'actor' | 'source'>): Origin => ({ ...who, request: null, correlation: null, causation: null })

/** The origin of the service's own work. */
export const systemOrigin = unasked({ actor: 'system', source: 'system' })

/** The origin of CLI commands that work without a server. */
export const cliOrigin = unasked({ actor: 'cli', source: 'cli' })

/**
 * The origin of work that an event causes: it belongs to the event's request, and has the event as its cause.
 *
 * @example causedBy({ actor: 'trainer', source: 'system' }, requested) // { …, correlation: 'r-1', causation: 'event/12' }
 */
export const causedBy = (who: Pick<Origin, 'actor' | 'source'>, cause: Envelope | undefined): Origin => ({
  ...who,
  request: null,
  correlation: cause?.correlation ?? cause?.request ?? null,
  causation: cause ? causeAt(cause.position) : null,
  ...(cause?.traceparent !== undefined && { traceparent: cause.traceparent }),
})
