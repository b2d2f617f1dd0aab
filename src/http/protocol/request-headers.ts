import { wrong } from '../../basics/errors.js'

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
