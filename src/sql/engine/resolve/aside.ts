import { Problem } from '../../../basics/errors.js'
import { systemDatabaseOf } from '../../../catalogue/system-databases.js'
import { relationOf } from '../../relations/catalogue.js'

const unreadable = (name: string): Problem =>
  new Problem('analytics_unavailable', 'SQL is not available', `The table ${name} cannot be read at the moment.`)

/** Whether a name means what tells of this moment, and needs no table. */
const isLive = (parts: readonly string[], db: string): boolean => {
  const [schema = '', name = '', more] = parts.length === 1 ? [db, ...parts] : parts
  return more === undefined && systemDatabaseOf(schema) === 'log' && relationOf('log', name)?.live === true
}

/** Beside the tables only what tells of this moment can be read. @throws Problem for any other name, and for the past */
export const refuseTables = (parts: readonly string[], db: string, isPast: boolean): void => {
  if (isPast || !isLive(parts, db)) throw unreadable(parts.join('.'))
}

/** Beside the tables no project or connection is known. @throws Problem */
export const refuseDatabase = (name: string): void => {
  if (systemDatabaseOf(name) === undefined) throw unreadable(name)
}

/** Whether a statement may read what tells of this moment: it says its name somewhere. */
export const mayReadLive = (sql: string): boolean => /\bprojections\b/i.test(sql)
