import { z } from 'zod'
import { jsonObject, type JsonObject } from './common.js'

/** Who or what sent the command. */
export const sources = ['rest', 'sql', 'cli', 'system'] as const
export type Source = (typeof sources)[number]

/**
 * One event with everything that is known of it. Its stored text is this object as JSON with the keys in this order,
 * and that text is what is hashed.
 */
export type Envelope = {
  /** Gapless from 1; equal to the order of commits. */
  position: number
  stream: string
  /** The event's number in its stream, from 1. */
  version: number
  type: string
  /** The schema version that wrote `data`. */
  schema: number
  /** UTC with microseconds, never before the event at the position before. */
  recorded_at: string
  actor: string
  source: Source
  request: string | null
  correlation: string | null
  causation: string | null
  /** Where the request stands in a distributed trace (W3C Trace Context); only there when the request said so. */
  traceparent?: string
  data: JsonObject
}

export const envelopeSchema: z.ZodType<Envelope> = z.object({
  position: z.int().positive(),
  stream: z.string().min(1),
  version: z.int().positive(),
  type: z.string().min(1),
  schema: z.int().positive(),
  recorded_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  actor: z.string(),
  source: z.enum(sources),
  request: z.string().nullable(),
  correlation: z.string().nullable(),
  causation: z.string().nullable(),
  traceparent: z.string().exactOptional(),
  data: jsonObject,
})

/** The text of an event, as it is stored and hashed. */
export const renderEnvelope = (e: Envelope): string =>
  JSON.stringify({
    position: e.position,
    stream: e.stream,
    version: e.version,
    type: e.type,
    schema: e.schema,
    recorded_at: e.recorded_at,
    actor: e.actor,
    source: e.source,
    request: e.request,
    correlation: e.correlation,
    causation: e.causation,
    ...(e.traceparent !== undefined && { traceparent: e.traceparent }),
    data: e.data,
  })

/** Reads a stored text back. Throws when it is not an event. */
export const parseEnvelope = (text: string): Envelope => envelopeSchema.parse(JSON.parse(text))

/** A millisecond clock reading and the microseconds within it, as `recorded_at`. `instant(0, 7)` → `1970-01-01T00:00:00.000007Z` */
export const instant = (milliseconds: number, microseconds = 0): string =>
  `${new Date(milliseconds).toISOString().slice(0, -1)}${String(microseconds).padStart(3, '0')}Z`
