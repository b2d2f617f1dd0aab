import { column, type Column } from './relation.js'

/** A kind of resource as SQL shows it: now, and with its whole history. */
export type ResourceRelation = {
  name: string
  table: string
  about: string
  columns: Column[]
  /** The whole statement over some rows of the kind's table; other kinds are joined as they were at `moment`, events by `joins`. */
  select: (rows: string, moment: string, more: string, joins: string) => string
}

/** The column NAME of a table of resources. @param what in the words of its description: 'view' */
export const nameOf = (what: string): Column => column('NAME', 'VARCHAR', `Name of the ${what}; compared without case.`)
