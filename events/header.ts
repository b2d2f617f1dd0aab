/**
 * What stands before the data of a stored event, read without parsing the whole. Texts are kept as JSON writes them:
 * `actor` is without its quotes, `request`, `correlation`, `causation` and `traceparent` with theirs, or `null`.
 */
export type Header = {
  position: number
  stream: string
  version: number
  type: string
  schema: number
  recorded_at: string
  actor: string
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
const layout = new RegExp(
  `^\\{"position":(\\d+),"stream":"([^"\\\\]+)","version":(\\d+),"type":"(\\w+)","schema":(\\d+),"recorded_at":"([^"]+)"` +
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
  const [beginning, position, stream = '', version, type = '', schema, recorded_at = '', actor = '', source = ''] = found
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
    dataAt: beginning.length,
  }
}
