import { wrong } from '../../basics/errors.js'

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
