import { foldName } from '../../events/common.js'

/** The databases that every service has, beside its projects and connections. */
export const systemDatabases = ['information_schema', 'log', 'files'] as const

/**
 * Which of them a name means, compared without case; undefined for the name of any other.
 *
 * @example systemDatabaseOf('Files') // 'files'
 */
export const systemDatabaseOf = (name: string): (typeof systemDatabases)[number] | undefined => {
  const folded = foldName(name)
  return systemDatabases.find((known) => known === folded)
}
