import { column, type Column } from './relation.js'

/** A kind of resource in SQL: its current state, and its whole history. */
export type ResourceRelation = {
  name: string
  table: string
  about: string
  columns: Column[]
  /** The item ID of its history, if the rows belong to parts of a resource. */
  id?: string
  /** The whole statement over some rows of the kind's table. Other kinds are joined in their state at `moment`, events by `joins`. */
  select: (rows: string, moment: string, more: string, joins: string) => string
}

/** The column NAME of a table of resources. @param what the noun in its description: 'view' */
export const nameOf = (what: string): Column => column('NAME', 'VARCHAR', `Name of the ${what}; compared without case.`)
