/** Why the tables cannot follow the log any further. Names the position, never the data at it. */
export class ProjectionError extends Error {
  constructor(
    readonly position: number,
    readonly reason: string,
    cause?: unknown,
  ) {
    super(`The event at position ${position} cannot be projected: ${reason}.`, { cause })
    this.name = 'ProjectionError'
  }
}

/** A payload is not erased, but this process lacks the master key that seals it. The tables wait for the key. */
export class MissingKeyError extends Error {
  constructor(readonly keyId: string) {
    super(`This process lacks the master key ${keyId}.`)
    this.name = 'MissingKeyError'
  }
}

/** Other projections built the tables, or the tables hold erased data: they have to be rebuilt. */
export class StaleTablesError extends Error {
  constructor(readonly reason: 'another release' | 'erasure' | 'other rows') {
    super(`The tables have to be rebuilt: ${reason}.`)
    this.name = 'StaleTablesError'
  }
}

/**
 * The tables have followed events that the log does not have: it is an older copy, or another history. The tables are evidence of the
 * missing events, so they are not rebuilt.
 */
export class ForeignTablesError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ForeignTablesError'
  }
}

/** A table does not show all rows that were added to it. The file may still have them, so it has to be reopened. */
export class OtherRowsError extends Error {
  constructor(
    readonly table: string,
    readonly expected: number,
    readonly found: number,
  ) {
    super(`${table} shows ${found} rows where ${expected} were added.`)
    this.name = 'OtherRowsError'
  }
}

/** A COMMIT failed: the state of the tables in memory is unknown, and they have to be reopened. */
export class CommitError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'CommitError'
  }
}
