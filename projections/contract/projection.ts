import type { EventType } from '../../events/catalogue.js'
import type { anyForeign } from '../../events/foreign.js'

/**
 * A projection in emmett's terms: `init` creates the tables, and `evolve` brings them up to date. It handles a whole staged batch at
 * once, with SQL statements instead of a function per event: docs/decisions/projections/projections-by-batch.md. The statements see
 * the temporary tables `batch` (one row per event, in today's schema, see staging.ts) and `batch_payloads`, and run in the
 * transaction that moves the checkpoint. They run only when the batch holds an event that can be handled.
 */
export type Projection = {
  name: string
  canHandle: readonly (EventType | typeof anyForeign)[]
  /** DDL, in the schema `ledger` so that no name a user chooses can meet it. */
  init: string
  evolve: readonly string[]
  /** Statements that do the same with less work, for a batch of which only events of this type can be handled. */
  begin?: { type: EventType; evolve: readonly string[] }
}

/** The tables that a projection keeps: `['ledger.skills_history']`. */
export const tablesOf = ({ init }: Projection): string[] =>
  [...init.matchAll(/CREATE TABLE (ledger\.\w+)/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))

/** `inList(['SkillCreated'])` → `('SkillCreated')`, for a condition on `type`. */
export const inList = (types: readonly EventType[]): string => `(${types.map((type) => `'${type}'`).join(', ')})`
