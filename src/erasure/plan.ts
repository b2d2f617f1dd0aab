import type { ErasureKind } from '../../events/log.js'

/** A payload that goes, or of which only some rows go. */
export type PlannedPayload = {
  /** As events name it. */
  hash: string
  /** Where its rows are now, when an erasure before replaced it. */
  standsIn: string
  /** The rows that stay, as the replacement will hold them; null when nothing stays. */
  stays: string | null
  /** Rows that go; 0 for a secret. */
  rows: number
}

/** What an erasure takes, and what it leaves. */
export type Plan = {
  what: ErasureKind
  subject: string
  payloads: PlannedPayload[]
  blobs: string[]
  /** How much of it had been erased before. */
  already: number
  /** What else names the same bytes, which then has none either. */
  sharedWith: string[]
  /** What holds the same data in bytes of its own, and stays. */
  alsoIn: string[]
}

export const emptyPlan = (what: ErasureKind, subject: string): Plan => ({
  what,
  subject,
  payloads: [],
  blobs: [],
  already: 0,
  sharedWith: [],
  alsoIn: [],
})
