import * as z from 'zod'
import { catalogue, currentEvent, currentSchema, type LedgerEvent } from '../../../events/catalogue/catalogue.js'
import type { ForeignEvent } from '../../../events/foreign.js'
import { parseEnvelope, readKind, type Envelope } from '../../../events/stored/envelope.js'
import { isProblem } from '../../basics/errors.js'
import { isStorageError } from '../../basics/storage-error.js'
import { ConfigError } from '../../setup/config.js'

/** A recorded event that this release cannot apply. It stops before the event. */
export abstract class BlockingEventError extends Error {
  constructor(
    readonly position: number,
    message: string,
    cause: unknown,
  ) {
    super(message, { cause })
  }

  /** The reason for an operator. */
  get reason(): string {
    return this.message
  }

  /** What an operator has to start. */
  abstract get needed(): string

  /** The error that ends a start. @example error.endingStart('start this node with') */
  abstract endingStart(start: string): Error
}

/** A recorded event that a newer release wrote, and that this release does not know, cannot read or refuses. */
export class UnknownEventError extends BlockingEventError {
  /** The newest release of the other nodes, if one is newer than this one. */
  release: string | undefined

  override get reason(): string {
    return this.release === undefined ? this.message : `${this.message}: other nodes run the release ${this.release}`
  }

  override get needed(): string {
    return this.release === undefined ? 'that release' : `the release ${this.release}, which other nodes run`
  }

  override endingStart(start: string): Error {
    return new ConfigError(`${this.message}: ${start} ${this.needed}`, { cause: this })
  }
}

/** A recorded event that this release knows, but cannot read or fold because of a fault of its own: the cause. */
export class EventFaultError extends BlockingEventError {
  override get needed(): string {
    return 'a release without this fault'
  }

  /** A fault of this release ends a start with its stack. */
  override endingStart(start: string): Error {
    return new Error(`${this.message}: ${start} ${this.needed}`, { cause: this.cause })
  }
}

type Place = Pick<Envelope, 'position' | 'type'>

/** The error for an event of an unknown type, or with another form than the events of this release. */
const unknown = ({ position, type }: Place, cause: unknown): UnknownEventError =>
  new UnknownEventError(position, `a newer release wrote the event at position ${position}, of the type ${type}`, cause)

const fault = ({ position, type }: Place, cause: unknown): EventFaultError =>
  new EventFaultError(position, `a fault of this release: it cannot apply the event at position ${position}, of the type ${type}`, cause)

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
    if (type !== undefined && error instanceof z.ZodError) throw unknown({ position, type }, error)
    throw new RangeError(`the event at position ${position} cannot be read`, { cause: error })
  }
}

/** Whether an event has a type, a schema or data that this release does not know. It wrote the data of older schemas itself. */
const isNewer = ({ type, schema }: Envelope, error: unknown): boolean =>
  !catalogue.has(type) || schema > currentSchema(type) || (schema === currentSchema(type) && error instanceof z.ZodError)

/** A recorded event in today's schema. @throws BlockingEventError */
export const knownEvent = (envelope: Envelope): LedgerEvent | ForeignEvent => {
  try {
    return currentEvent(envelope)
  } catch (error) {
    throw isNewer(envelope, error) ? unknown(envelope, error) : fault(envelope, error)
  }
}

/**
 * Folds a recorded event. The release that wrote it has folded it, so a refusal means that it has other rules. The message does not repeat
 * the refusal, which may name a resource.
 *
 * @throws BlockingEventError; errors of the storage
 */
export const folding = <T>(place: Place, fold: () => T): T => {
  try {
    return fold()
  } catch (error) {
    if (isStorageError(error)) throw error
    if (!isProblem(error)) throw fault(place, error)
    const { position, type } = place
    const message = `a newer release, with other rules, wrote the event at position ${position}, of the type ${type}`
    throw new UnknownEventError(position, message, error)
  }
}
