import * as z from 'zod'
import { isObject, jsonObject, unfitJson, type Json, type JsonObject } from '../common.js'

/** Who or what sent the command. */
export const sources = ['rest', 'sql', 'mcp', 'cli', 'system'] as const
export type Source = (typeof sources)[number]

/**
 * One event with its metadata. Its stored text is this object as JSON, with the keys in this order; the hashes are over this text.
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
  /** The place of the request in a distributed trace (W3C Trace Context); only present if the request had this header. */
  traceparent?: string
  data: JsonObject
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

export const envelopeSchema: z.ZodType<Envelope> = z.object({
  position: z.int().positive(),
  stream: z.string().min(1),
  version: z.int().positive(),
  type: z.string().min(1),
  schema: z.int().positive(),
  recorded_at: z.string().regex(time),
  actor: z.string(),
  source: z.enum(sources),
  request: z.string().nullable(),
  correlation: z.string().nullable(),
  causation: z.string().nullable(),
  traceparent: z.string().exactOptional(),
  data: jsonObject,
})

/**
 * The text of an event, as it is stored and hashed, if the JSON of its data already exists.
 *
 * @example renderAround(envelope, JSON.stringify(envelope.data)) === renderEnvelope(envelope) // true
 */
export const renderAround = (e: Omit<Envelope, 'data'>, data: string): string => {
  const before = JSON.stringify({
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
    // JSON leaves out what is undefined.
    traceparent: e.traceparent,
  })
  return `${before.slice(0, -1)},"data":${data}}`
}

/** The text of an event, as it is stored and hashed. */
export const renderEnvelope = (e: Envelope): string => renderAround(e, JSON.stringify(e.data))

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'

/**
 * Whether a value is an envelope with its usual keys and no others. It takes a tenth of the time of the schema; the schema checks all other
 * values.
 */
const isUsual = (value: unknown): value is Envelope => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 12) return false
  const e = value as Record<keyof Envelope, Json>
  return (
    isNumber(e.position) &&
    isText(e.stream) &&
    isNumber(e.version) &&
    isText(e.type) &&
    isNumber(e.schema) &&
    typeof e.recorded_at === 'string' &&
    time.test(e.recorded_at) &&
    typeof e.actor === 'string' &&
    sources.some((source) => source === e.source) &&
    isTextOrNull(e.request) &&
    isTextOrNull(e.correlation) &&
    isTextOrNull(e.causation) &&
    isObject(e.data) &&
    unfitJson(e.data) === undefined
  )
}

/** Reads a stored text back. Throws when it is not an event. */
export const parseEnvelope = (text: string): Envelope => {
  const value: unknown = JSON.parse(text)
  return isUsual(value) ? value : envelopeSchema.parse(value)
}

/** The last millisecond in text form: events of one transaction share it. */
let written = { milliseconds: 0, text: '1970-01-01T00:00:00.000' }

/** A millisecond clock reading and the microseconds within it, as `recorded_at`. `instant(0, 7)` → `1970-01-01T00:00:00.000007Z` */
export const instant = (milliseconds: number, microseconds = 0): string => {
  if (milliseconds !== written.milliseconds) written = { milliseconds, text: new Date(milliseconds).toISOString().slice(0, -1) }
  return `${written.text}${String(microseconds).padStart(3, '0')}Z`
}

/**
 * The fields before the data of a stored event, read without parsing the whole text. Texts stay in JSON notation: `actor` is without its
 * quotes, `request`, `correlation`, `causation` and `traceparent` with theirs, or `null`.
 */
export type Header = Pick<Envelope, 'position' | 'stream' | 'version' | 'type' | 'schema' | 'recorded_at' | 'actor'> & {
  source: string
  request: string
  correlation: string
  causation: string
  traceparent: string | undefined
  /** Where the JSON of `data` begins in the text; it ends one character before the text does. */
  dataAt: number
}

const string = '[^"\\\\]*(?:\\\\.[^"\\\\]*)*'
const nullable = `null|"${string}"`

// The order of an envelope's keys is part of what is hashed, so it can be relied on.
const beginning = `^\\{"position":(\\d+),"stream":"([^"\\\\]+)","version":(\\d+),"type":"([\\w.]+)","schema":(\\d+),"recorded_at":"`

const kind = new RegExp(beginning)

/**
 * Reads only the position, type and schema of a stored event; undefined if the text is no event.
 *
 * @example readKind('{"position":1,"stream":"…","version":1,"type":"SkillCreated",…') // { position: 1, type: 'SkillCreated', schema: 1 }
 */
export const readKind = (text: string): Pick<Header, 'position' | 'type' | 'schema'> | undefined => {
  const [, position, , , type, schema] = kind.exec(text) ?? []
  return type === undefined ? undefined : { position: Number(position), type, schema: Number(schema) }
}

const layout = new RegExp(
  `${beginning}([^"]+)"` +
    `,"actor":"(${string})","source":"(\\w+)","request":(${nullable}),"correlation":(${nullable}),"causation":(${nullable})` +
    `(?:,"traceparent":(${nullable}))?,"data":`,
)

/**
 * Reads the fields before the data of a stored event; undefined if the text is no event.
 *
 * @example readHeader('{"position":1,"stream":"…","version":1,"type":"SkillCreated",…')?.type // 'SkillCreated'
 */
export const readHeader = (text: string): Header | undefined => {
  const found = layout.exec(text)
  if (!found) return undefined
  const [before, position, stream = '', version, type = '', schema, recorded_at = '', actor = '', source = ''] = found
  return {
    position: Number(position),
    stream,
    version: Number(version),
    type,
    schema: Number(schema),
    recorded_at,
    actor,
    source,
    request: found[9] ?? 'null',
    correlation: found[10] ?? 'null',
    causation: found[11] ?? 'null',
    traceparent: found[12],
    dataAt: before.length,
  }
}
