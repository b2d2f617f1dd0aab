/**
 * Room: the data that an erasure takes, a file for each kind. It imports only events, basics, catalogue, log, commands, files and
 * knowledge/documents.
 */

import { Problem } from '../../basics/errors.js'
import type { ErasureKind } from '../../../events/records/log.js'
import { limits } from '../../basics/limits.js'
import { inParts } from '../../basics/limits/in-parts.js'
import type { FormerHolder } from '../../commands/records/log.js'
import type { Log } from '../../log/contract/log.js'

/** A payload to erase completely, or to replace by its remaining rows. */
export type PlannedPayload = {
  /** Its hash as written in events. */
  hash: string
  /** The hash of the payload that has its rows now, if an earlier erasure replaced it. */
  standsIn: string
  /** The remaining rows for the replacement; null if none remain. */
  stays: string | Buffer | null
  /** The number of rows or documents to erase; 1 for an answer of an agent or a search, 0 for a secret, a comment, and vectors. */
  rows: number
  /** The size of the ciphertext to erase. */
  bytes: number
  /** The resources that had this secret. If one of them gets it again, it is not erased. */
  formerHolders?: readonly FormerHolder[]
}

/** The data that an erasure removes, and the data that it keeps. */
export type Plan = {
  what: ErasureKind
  subject: string
  payloads: PlannedPayload[]
  blobs: string[]
  /** The blobs that had been erased before. Their bytes may still exist, because the node that erased them failed. */
  erasedBlobs: string[]
  /** Whether an answer that was kept for repeated requests may show rows of it. The event erases these answers, even without a payload. */
  replies: boolean
  /** The number of payloads and blobs that had been erased before. */
  already: number
  /** Other things that refer to the same bytes, and also lose them. */
  sharedWith: string[]
  /** Other things that have a copy of the same data, and keep it. */
  alsoIn: string[]
}

/** The result of an erasure. */
export type ErasureResult = {
  what: Plan['what']
  subject: string
  dry_run: boolean
  /** Positions of its events; none when everything had been erased before. */
  positions: number[]
  payloads: number
  rows: number
  blobs: string[]
  /** Whether answers that were kept for repeated requests may show rows of it. They go with it, or alone. */
  kept_answers: boolean
  /** Payloads and blobs that had been erased before. */
  already_erased: number
  shared_with: string[]
  also_in: string[]
}

/** The part of a plan that grows while events are read. */
export type PlanPart = Pick<Plan, 'payloads' | 'already'>

/** Plans to erase a whole payload; undefined when it was erased before. */
export const whole = async (log: Pick<Log, 'payloadState'>, hash: string, rows: number): Promise<PlannedPayload | undefined> => {
  const state = await log.payloadState(hash)
  if (!state || (state.isErased && state.replacedBy === null)) return undefined
  const { replacedBy } = state
  const standing = replacedBy === null ? state : await log.payloadState(replacedBy)
  if (standing?.isErased) return undefined
  return { hash, standsIn: replacedBy ?? hash, stays: null, rows, bytes: standing?.bytes ?? 0 }
}

/** A plan that contains each payload once, even if several events refer to it. */
export const distinct = (plan: Plan): Plan => ({
  ...plan,
  payloads: [...new Map(plan.payloads.map((payload) => [payload.hash, payload])).values()],
})

/** An empty plan, for adding found data. @example { ...emptyPlan('file', stream), blobs: [sha] } */
export const emptyPlan = (what: ErasureKind, subject: string): Plan => ({
  what,
  subject,
  payloads: [],
  blobs: [],
  erasedBlobs: [],
  replies: false,
  already: 0,
  sharedWith: [],
  alsoIn: [],
})

/** One event's share of an erasure. */
export type Share = { payloads: PlannedPayload[]; blobs: string[] }

/** A payload that was replaced before counts twice in an event. */
const perEvent = Math.floor(limits.erasedMaxPerEvent / 2)

/** The payloads that one event can erase. Their bytes are overwritten at once, so they count too. */
const inOneEvent = { maxItems: perEvent, maxSize: limits.erasedMaxBytesPerEvent }

/**
 * Splits a plan into parts that each fit into one event. A payload that is larger than the limit has an event of its own. If only kept
 * answers are erased, the event names nothing.
 */
export const sharesOf = ({ payloads, blobs, replies }: Plan): Share[] => {
  const parts = [...inParts(payloads, ({ bytes }) => bytes, inOneEvent)]
  const count = Math.max(parts.length, Math.ceil(blobs.length / perEvent), replies ? 1 : 0)
  return Array.from({ length: count }, (_, i) => ({ payloads: parts[i] ?? [], blobs: blobs.slice(i * perEvent, (i + 1) * perEvent) }))
}

/** The refusal of an erasure whose bytes something else uses as well. */
export const sharedContent = ({ subject, sharedWith }: Plan): Problem =>
  new Problem('not_empty', 'Shared content', `the bytes of ${subject} are also those of: ${sharedWith.slice(0, 10).join(', ')}`, {
    hint: 'An erasure takes the bytes away from all of these. To erase them all the same, send "shared": true.',
    shared_with: sharedWith,
  })
