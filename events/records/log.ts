import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { sha256, text, type SchemasOf } from '../common.js'

/**
 * What an erasure was asked for: one prediction event, an agent's answer, a conversation's answers, what one request left, a file, a
 * training matrix, secrets, documents of a knowledge base, or all up to a time.
 */
export const erasureKinds = ['prediction', 'answer', 'conversation', 'request', 'file', 'matrix', 'secrets', 'documents', 'before'] as const
export type ErasureKind = (typeof erasureKinds)[number]

/** A payload whose key is gone. Where others' rows stood in it, too, `replacement` is the payload that holds those. */
export type ErasedPayload = { hash: string; replacement: string | null }

/** The keys of payloads and the files of blobs are gone: nobody can read them again, also not from this event. */
export type DataErased = {
  what: ErasureKind
  /** What it was called: `17`, a request's id, `files.homes`, `shop.rent.1`, `agent shop.broker`, an answer's id, a time. */
  subject: string
  reason: string | null
  payloads: ErasedPayload[]
  blobs: string[]
}

/** The keys of all payloads were wrapped anew under another master key. */
export type MasterKeyRotated = { from: string; to: string; payloads: number }

export type LogEvent = Event<'DataErased', DataErased> | Event<'MasterKeyRotated', MasterKeyRotated>

/** More is erased in several events. */
const erasedMax = 1_000

export const logSchemas: SchemasOf<LogEvent> = {
  DataErased: z
    .strictObject({
      what: z.enum(erasureKinds),
      subject: text,
      reason: text.nullable(),
      payloads: z.array(z.strictObject({ hash: sha256, replacement: sha256.nullable() })).max(erasedMax),
      blobs: z.array(sha256).max(erasedMax),
    })
    .describe(
      'Payloads and blobs were erased: their keys and files are gone. A replacement holds what others had in the same payload. ' +
        'Events that name them stay, and say what they said.',
    ),
  MasterKeyRotated: z
    .strictObject({ from: text, to: text, payloads: z.int().nonnegative() })
    .describe('The keys of all payloads were wrapped under another master key, which is told by its id.'),
}

/** Events about the log itself have one stream. */
export const logStream = 'log'
