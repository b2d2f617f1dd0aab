import { Problem } from '../../basics/errors.js'

/**
 * The version that a command expects the resource to have: `match` is RFC 9110's If-Match, `noneMatch` its If-None-Match. `*` matches
 * any version, a list those in it.
 */
export type Precondition = { match?: Versions; noneMatch?: Versions }
export type Versions = '*' | readonly number[]

const holds = (versions: Versions, version: number | undefined): boolean =>
  version !== undefined && (versions === '*' || versions.includes(version))

const changed = (detail: string, version: number | undefined, hint: string): Problem =>
  new Problem('version_mismatch', 'Precondition failed', detail, { hint, version: version ?? null })

/**
 * @param version the resource's version; undefined if there is no resource
 * @throws Problem 412 that gives the current version
 */
export const checkExpects = ({ match, noneMatch }: Precondition, version: number | undefined): void => {
  const there = version === undefined ? 'there is no such resource' : `the resource has version ${version}`
  if (match !== undefined && !holds(match, version))
    throw changed(`${there}, not one that If-Match names`, version, 'Read it again, and decide by its current state.')
  if (noneMatch !== undefined && holds(noneMatch, version))
    throw changed(`${there}, which If-None-Match excludes`, version, 'Leave the header out to change the resource.')
}
