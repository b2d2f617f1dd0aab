import type { EventType } from '../../events/catalogue/catalogue.js'
import type { anyForeign } from '../../events/foreign.js'

/**
 * A projection in emmett's terms: `init` creates the tables, and `evolve` brings them up to date. It handles a whole staged batch at once,
 * with SQL statements instead of a function per event: docs/decisions/projections/projections-by-batch.md. The statements see the temporary
 * tables `batch` (one row per event, in today's schema, see staging.ts) and `batch_payloads`, and run in the transaction that moves the
 * checkpoint. They run only if the batch has an event that the projection handles.
 */
export type Projection = {
  name: string
  canHandle: readonly (EventType | typeof anyForeign)[]
  /** DDL, in the schema `ledger` so that no name of a user can collide with it. */
  init: string
  evolve: readonly string[]
  /** Faster statements with the same result, for a batch in which this is the only type that the projection handles. */
  begin?: { type: EventType; evolve: readonly string[] }
}

/** The tables that a projection keeps: `['ledger.skills_history']`. */
export const tablesOf = ({ init }: Projection): string[] =>
  [...init.matchAll(/CREATE TABLE (ledger\.\w+)/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))

/** `inList(['SkillCreated'])` → `('SkillCreated')`, for a condition on `type`. */
export const inList = (types: readonly EventType[]): string => `(${types.map((type) => `'${type}'`).join(', ')})`
