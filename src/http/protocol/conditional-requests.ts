import { wrong } from '../../basics/errors.js'
import type { Precondition, Versions } from '../../log/contract/precondition.js'

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
