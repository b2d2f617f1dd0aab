import { limits } from '../../../basics/limits.js'

/** An event as it is stored. */
export type EventRow = { position: number; text: string; chain: Buffer }
/** A payload; without `wrapped` it was erased. */
export type PayloadRow = { hash: string; keyId: string; wrapped: Buffer | null; body: Buffer; replacedBy: string | null }
/** The kept answer to a request with an idempotency key. */
export type AnswerRow = { actor: string; key: string; fingerprint: string; answer: string; answeredAt: string }
/** A line of the log's own notes, such as the keys that sign heads; null when it was removed. */
export type NoteRow = { key: string; value: string | null }

/**
 * The rows that a batch writes: its events, and its other rows in their new state. `forgotten` are the keys of answers that it removes. Only
 * the node that forgets these answers names them: from a note, the other nodes learn up to which age to forget.
 */
export type Rows = {
  events: EventRow[]
  payloads: PayloadRow[]
  answers: AnswerRow[]
  notes: NoteRow[]
  forgotten?: Pick<AnswerRow, 'actor' | 'key'>[]
}

/**
 * A place in the shared log. `seq` counts batches; `position` and `chain` are those of the newest event. A batch may have no events: its
 * id tells it from another batch of the same number. A file that an older release wrote does not have the id.
 */
export type Place = { seq: number; position: number; chain: Buffer; batch: string | undefined }

/** The place after a batch that a node sends. */
export type NewPlace = Place & { batch: string }

/** Whether two places are the same, by the parts that are known of both. */
export const isSamePlace = (one: Place, other: Place): boolean =>
  one.seq === other.seq &&
  one.position === other.position &&
  one.chain.equals(other.chain) &&
  (one.batch === undefined || other.batch === undefined || one.batch === other.batch)

/** The rows after a place, up to another place, and the number of the newest batch of all. */
export type Delta = { to: Place; rows: Rows; newest: number }

/** How much a part of the rows after a place may have; a single batch may have more. */
export type PartBounds = { batches: number; bytes: number; events: number }

/** The largest part. */
export const fullPart: PartBounds = {
  batches: limits.sharedDeltaMaxBatches,
  bytes: limits.sharedDeltaMaxBytes,
  events: limits.sharedDeltaMaxEvents,
}

/** Bounds of a part that are larger or smaller by a factor: at least a batch, and at most the largest part. */
export const scaledPart = (bounds: PartBounds, factor: number): PartBounds => {
  const scaled = (key: keyof PartBounds): number => Math.max(1, Math.min(fullPart[key], Math.floor(bounds[key] * factor)))
  return { batches: scaled('batches'), bytes: scaled('bytes'), events: scaled('events') }
}

/** Whether there is no row at all: no event, payload, kept answer or note. */
export const isEmpty = ({ events, payloads, answers, notes }: Rows): boolean =>
  events.length + payloads.length + answers.length + notes.length === 0

/** About how many bytes the rows have, which bounds how many batches are fetched at once. */
export const sizeOfRows = ({ events, payloads, answers, notes }: Rows): number =>
  events.reduce((sum, { text }) => sum + text.length, 0) +
  payloads.reduce((sum, { body }) => sum + body.length, 0) +
  answers.reduce((sum, { answer }) => sum + answer.length, 0) +
  notes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
