import type { Session } from './session.js'

/** Thrown before rows are fetched for a query with names, folded, that may be no columns: these are bound first. */
export class UnboundNames extends Error {
  constructor(readonly names: ReadonlySet<string>) {
    super('the query may name columns that are not there')
  }
}

/** Thrown where names are bound, by what cannot be planned without doing it: then nothing is known of them. */
export class NamesUndecided extends Error {
  constructor() {
    super('the names of the query cannot be bound without running it')
  }
}

/** Ends an attempt that only binds names. @throws NamesUndecided */
export const endBinding = ({ names }: Pick<Session, 'names'>): void => {
  if (names === 'binding') throw new NamesUndecided()
}
