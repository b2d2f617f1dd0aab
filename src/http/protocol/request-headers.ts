import { wrong } from '../../basics/errors.js'
import type { Precondition, Versions } from '../../log/contract/precondition.js'

const preference = /^([!#$%&'*+.^_`|~\w-]+)(?:[\t ]*=[\t ]*(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?/

/** Splits a list at the commas outside quotes. */
const members = (value: string): string[] => value.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []

/**
 * Whether the client wants a dry run (RFC 7240, `Prefer: dry-run`). Other preferences are ignored.
 *
 * @example prefersDryRun('return=minimal, dry-run') // true
 * @throws Problem when it has a value: `dry-run=false` would be ambiguous
 */
export const prefersDryRun = (value: string | undefined): boolean => {
  if (value === undefined) return false
  for (const member of members(value)) {
    const [, name = '', token = '', quoted = ''] = preference.exec(member.trim()) ?? []
    if (name.toLowerCase() !== 'dry-run') continue
    if (token + quoted !== '') throw wrong('the preference dry-run takes no value', 'Send Prefer: dry-run, or leave it out.')
    return true
  }
  return false
}

/**
 * The header with a position: in an answer, the position of its newest event; in a request, the lowest position that the node must have.
 */
export const positionHeader = 'Mindledger-Position'

/** The header of an answer to a dry run. */
export const dryRunApplied = { 'Preference-Applied': 'dry-run' } as const

const known = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampled = 0x01

/**
 * The `traceparent` of a request (W3C Trace Context); undefined when the header is missing or invalid, as the standard says.
 * A header of a version newer than 00 is kept as version 00, with the fields of 00.
 *
 * @example readTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
 */
export const readTraceparent = (value: string | undefined): string | undefined => {
  if (value === undefined) return undefined
  const [, version, trace = '', parent = '', flags = '', more] = known.exec(value.trim()) ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(trace) || /^0+$/.test(parent)) return undefined
  if (version === '00') return more === undefined ? `00-${trace}-${parent}-${flags}` : undefined
  return `00-${trace}-${parent}-0${parseInt(flags, 16) & sampled}`
}

/** One entity tag of RFC 9110: `W/` if it is weak, and the text between the quotes. */
const entityTag = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/

/** Anything that has the headers of a request. */
type HeaderSource = { header: (name: string) => string | undefined }

type Tag = { weak: boolean; opaque: string }

/** Reads a list of entity tags; empty members are allowed, as in `, "1"`. @throws Problem when it is not such a list */
const tagsIn = (name: string, value: string): Tag[] => {
  const tags: Tag[] = []
  let rest = value
  for (let after = true; ;) {
    rest = rest.replace(/^[\t ]+/, '')
    if (rest === '') return tags
    if (rest.startsWith(',')) {
      rest = rest.slice(1)
      after = true
      continue
    }
    const [whole, weak, opaque = ''] = entityTag.exec(rest) ?? []
    if (whole === undefined || !after)
      throw wrong(`the header ${name} must be * or versions in quotes, as in ${name}: "3"`, 'The ETag of an answer is such a version.')
    tags.push({ weak: weak !== undefined, opaque })
    rest = rest.slice(whole.length)
    after = false
  }
}

const isVersion = ({ opaque }: Tag): boolean => /^[1-9]\d{0,15}$/.test(opaque)

/** The versions in a header. A tag that is not a version of this service matches nothing. */
const versionsIn = (call: HeaderSource, name: string, counts: (tag: Tag) => boolean): Versions | undefined => {
  const value = call.header(name)
  if (value === undefined) return undefined
  if (value.trim() === '*') return '*'
  const tags = tagsIn(name, value)
  if (tags.length === 0) throw wrong(`the header ${name} names no version`, `Leave it out, or send ${name}: *.`)
  return tags.filter((tag) => isVersion(tag) && counts(tag)).map(({ opaque }) => Number(opaque))
}

/**
 * The versions that a request expects of the resource that it writes (RFC 9110, If-Match and If-None-Match). If-Match compares
 * strongly: a weak tag never matches.
 *
 * @example expectsOf(call) // { match: [3, 4] } for If-Match: "3", "4"
 * @throws Problem when a header is ill-formed
 */
export const expectsOf = (call: HeaderSource): Precondition | undefined => {
  const match = versionsIn(call, 'If-Match', ({ weak }) => !weak)
  const noneMatch = versionsIn(call, 'If-None-Match', () => true)
  return match === undefined && noneMatch === undefined
    ? undefined
    : { ...(match !== undefined && { match }), ...(noneMatch !== undefined && { noneMatch }) }
}
