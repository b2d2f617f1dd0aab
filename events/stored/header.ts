import type { Envelope } from './envelope.js'

/**
 * What stands before the data of a stored event, read without parsing the whole. Texts are kept as JSON writes them:
 * `actor` is without its quotes, `request`, `correlation`, `causation` and `traceparent` with theirs, or `null`.
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
 * Reads no more than what kind of event a stored text is; undefined when it is not that of an event.
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
 * Reads the beginning of a stored text; undefined when it is not that of an event.
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
