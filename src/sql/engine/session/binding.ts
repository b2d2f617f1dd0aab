import type { Session } from './session.js'

/** Thrown before rows are fetched for a query with names, folded, that may be no columns. The next attempt binds these names first. */
export class UnboundNames extends Error {
  constructor(readonly names: ReadonlySet<string>) {
    super('the query may name columns that are not there')
  }
}

/** Thrown during the binding of names by a part of a query that cannot be planned without running it. The names then stay undecided. */
export class NamesUndecided extends Error {
  constructor() {
    super('the names of the query cannot be bound without running it')
  }
}

/** Ends an attempt that only binds names. @throws NamesUndecided */
export const endBinding = ({ names }: Pick<Session, 'names'>): void => {
  if (names === 'binding') throw new NamesUndecided()
}
