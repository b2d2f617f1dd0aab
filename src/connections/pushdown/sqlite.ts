import { plain } from '../contract/types.js'
import type { Dialect } from './dialect.js'

/** SQLite: its columns hold values of any type, so nothing but counting means the same there. */
export const sqliteDialect: Dialect = {
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  constant: ({ value }) => value,
  compare: () => undefined,
  like: () => undefined,
  canAskNull: () => true,
  canOrder: () => false,
  canGroup: () => false,
  canJoin: () => false,
  aggregate: (name, column, quoted) =>
    name === 'count' ? { sql: column ? `count(${quoted})` : 'count(*)', type: plain('BIGINT') } : undefined,
}
