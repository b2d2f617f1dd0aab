import { foldName } from '../../events/common.js'

/** The databases of every service besides its projects and connections. */
export const systemDatabases = ['information_schema', 'log', 'files'] as const

/**
 * The system database with this name, compared without case; undefined for any other name.
 *
 * @example systemDatabaseOf('Files') // 'files'
 */
export const systemDatabaseOf = (name: string): (typeof systemDatabases)[number] | undefined => {
  const folded = foldName(name)
  return systemDatabases.find((known) => known === folded)
}
