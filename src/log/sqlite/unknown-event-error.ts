import { currentEvent, type LedgerEvent } from '../../../events/catalogue/catalogue.js'
import type { ForeignEvent } from '../../../events/foreign.js'
import { parseEnvelope, readKind, type Envelope } from '../../../events/stored/envelope.js'
import { isStorageError } from '../../basics/storage-error.js'

/** A recorded event that this release does not know, cannot read or cannot fold, because a newer release wrote it. */
export class UnknownEventError extends Error {
  /** The newest release of the other nodes, if one is newer than this one. */
  release: string | undefined

  constructor(
    readonly position: number,
    message: string,
    cause: unknown,
  ) {
    super(message, { cause })
  }

  /** What an operator has to start. */
  get needed(): string {
    return this.release === undefined ? 'that release' : `the release ${this.release}, which other nodes run`
  }
}

/** The error for an event of an unknown type, or with another form than the events of this release. */
const unreadable = (position: number, type: string, cause: unknown): UnknownEventError =>
  new UnknownEventError(position, `a newer release wrote the event at position ${position}, of the type ${type}`, cause)

/**
 * A stored text as an event.
 *
 * @throws UnknownEventError for an event with fields of a newer release; RangeError for a text that is no event
 */
export const envelopeAt = (position: number, text: string): Envelope => {
  try {
    return parseEnvelope(text)
  } catch (error) {
    const type = readKind(text)?.type
    if (type !== undefined) throw unreadable(position, type, error)
    throw new RangeError(`the event at position ${position} cannot be read`, { cause: error })
  }
}

/** A recorded event in today's schema. @throws UnknownEventError */
export const knownEvent = (envelope: Envelope): LedgerEvent | ForeignEvent => {
  try {
    return currentEvent(envelope)
  } catch (error) {
    throw unreadable(envelope.position, envelope.type, error)
  }
}

/**
 * Folds a recorded event. The release that wrote it has folded it, so a refusal means that it has other rules. The message does not repeat
 * the refusal, which may name a resource.
 *
 * @throws UnknownEventError; errors of the storage
 */
export const folding = <T>({ position, type }: Pick<Envelope, 'position' | 'type'>, fold: () => T): T => {
  try {
    return fold()
  } catch (error) {
    if (isStorageError(error)) throw error
    const message = `a newer release, with other rules, wrote the event at position ${position}, of the type ${type}`
    throw new UnknownEventError(position, message, error)
  }
}
