import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { sha256, text, type SchemasOf } from '../common.js'

/**
 * The target of an erasure: one prediction event, an agent's answer, a conversation's answers, the rows of one request, a file, a training
 * matrix, secrets, documents of a knowledge base, or everything up to a time.
 */
export const erasureKinds = ['prediction', 'answer', 'conversation', 'request', 'file', 'matrix', 'secrets', 'documents', 'before'] as const
export type ErasureKind = (typeof erasureKinds)[number]

/** The erasures that change rows of the tables. These never contain secrets or blobs, and of documents only what searches said of them. */
export const erasureKindsInTables: readonly ErasureKind[] = ['prediction', 'answer', 'conversation', 'request', 'documents', 'before']

/** A payload whose key is erased. If the payload also had rows of others, `replacement` is the new payload with those rows. */
export type ErasedPayload = { hash: string; replacement: string | null }

/**
 * The keys of payloads and the files of blobs were erased: nobody can read them again, and this event does not repeat them. Answers with
 * rows that were kept for repeated requests are erased as well, except with secrets; the event may name nothing else.
 */
export type DataErased = {
  what: ErasureKind
  /** The name of the target: `17`, a request's id, `files.homes`, `shop.rent.1`, `agent shop.broker`, an answer's id, a time. */
  subject: string
  reason: string | null
  payloads: ErasedPayload[]
  blobs: string[]
}

/** The keys of all payloads were wrapped anew under another master key. */
export type MasterKeyRotated = { from: string; to: string; payloads: number }

export type LogEvent = Event<'DataErased', DataErased> | Event<'MasterKeyRotated', MasterKeyRotated>

/** A larger erasure is several events. */
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
      'Payloads and blobs were erased: their keys and files are gone. A replacement is a new payload with the rows of others. ' +
        'Events that name them stay unchanged.',
    ),
  MasterKeyRotated: z
    .strictObject({ from: text, to: text, payloads: z.int().nonnegative() })
    .describe('The keys of all payloads were wrapped under another master key; the event has the id of that key.'),
}

/** Events about the log itself have one stream. */
export const logStream = 'log'
