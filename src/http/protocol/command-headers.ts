import { wrong } from '../../basics/errors.js'
import type { Expects, Versions } from '../../log/contract/expects.js'

/** One entity tag of RFC 9110: `W/` where it is weak, and what stands between the quotes. */
const entityTag = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/

/** What has the headers of a request. */
type Headed = { header: (name: string) => string | undefined }

type Tag = { weak: boolean; opaque: string }

/** A list of entity tags; empty members are allowed, as in `, "1"`. @throws Problem of what is none */
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

/** What a header says of versions; what is no version of this service's matches none. */
const versionsIn = (call: Headed, name: string, counts: (tag: Tag) => boolean): Versions | undefined => {
  const value = call.header(name)
  if (value === undefined) return undefined
  if (value.trim() === '*') return '*'
  const tags = tagsIn(name, value)
  if (tags.length === 0) throw wrong(`the header ${name} names no version`, `Leave it out, or send ${name}: *.`)
  return tags.filter((tag) => isVersion(tag) && counts(tag)).map(({ opaque }) => Number(opaque))
}

/**
 * What a request expects of the resource that it writes (RFC 9110, If-Match and If-None-Match). If-Match compares strongly: a weak
 * tag never matches.
 *
 * @example expectsOf(call) // { match: [3, 4] } of If-Match: "3", "4"
 * @throws Problem when a header is ill-formed
 */
export const expectsOf = (call: Headed): Expects | undefined => {
  const match = versionsIn(call, 'If-Match', ({ weak }) => !weak)
  const noneMatch = versionsIn(call, 'If-None-Match', () => true)
  return match === undefined && noneMatch === undefined
    ? undefined
    : { ...(match !== undefined && { match }), ...(noneMatch !== undefined && { noneMatch }) }
}

const preference = /^([!#$%&'*+.^_`|~\w-]+)(?:[\t ]*=[\t ]*(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?/

/** Members of a list, at commas that do not stand in quotes. */
const members = (value: string): string[] => value.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []

/**
 * Whether the client prefers that nothing is written (RFC 7240, `Prefer: dry-run`). Other preferences are not ours to know.
 *
 * @example prefersDryRun('return=minimal, dry-run') // true
 * @throws Problem when it comes with a value: who sends `dry-run=false` must not be misunderstood
 */
export const prefersDryRun = (value: string | undefined): boolean => {
  for (const member of members(value ?? '')) {
    const [, name = '', token = '', quoted = ''] = preference.exec(member.trim()) ?? []
    if (name.toLowerCase() !== 'dry-run') continue
    if (token + quoted !== '') throw wrong('the preference dry-run takes no value', 'Send Prefer: dry-run, or leave it out.')
    return true
  }
  return false
}

/** Says in an answer that nothing was written. */
export const dryRunApplied = { 'Preference-Applied': 'dry-run' } as const

const known = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampled = 0x01

/**
 * The `traceparent` of W3C Trace Context that a request stands in; undefined when the header is missing or invalid, which is
 * ignored as the standard says. Of a version that is newer than the standard's 00 what 00 knows is kept, as 00.
 *
 * @example readTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
 */
export const readTraceparent = (value: string | undefined): string | undefined => {
  const [, version, trace = '', parent = '', flags = '', more] = known.exec(value?.trim() ?? '') ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(trace) || /^0+$/.test(parent)) return undefined
  if (version === '00') return more === undefined ? `00-${trace}-${parent}-${flags}` : undefined
  return `00-${trace}-${parent}-0${parseInt(flags, 16) & sampled}`
}
