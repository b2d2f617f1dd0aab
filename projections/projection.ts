import type { EventType } from '../events/catalogue.js'

/**
 * What follows from events: tables, and whole SQL statements that bring them up to date from one staged batch.
 * The statements see the temporary tables `batch` (one row an event, in today's schema, see staging.ts) and `batch_payloads`,
 * and run in the transaction that moves the checkpoint. They run only when the batch holds an event that is handled.
 */
export type Projection = {
  name: string
  handles: readonly EventType[]
  /** DDL, in the schema `ledger` so that no name a user chooses can meet it. */
  tables: string
  apply: readonly string[]
}

/** The tables that a projection keeps: `['ledger.skills_history']`. */
export const tablesOf = ({ tables }: Projection): string[] =>
  [...tables.matchAll(/CREATE TABLE (ledger\.\w+)/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))

/** `inList(['SkillCreated'])` → `('SkillCreated')`, for a condition on `type`. */
export const inList = (types: readonly EventType[]): string => `(${types.map((type) => `'${type}'`).join(', ')})`
