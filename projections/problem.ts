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

/** The tables were built by other projections, or hold what was erased: they have to be built again. */
export class StaleTablesError extends Error {
  constructor(readonly reason: 'another release' | 'erasure') {
    super(`The tables have to be rebuilt: ${reason}.`)
    this.name = 'StaleTablesError'
  }
}

/**
 * The tables have followed events that the log does not have: it is an older copy, or another history. They are the evidence
 * of what is missing, so that they are not built anew.
 */
export class ForeignTablesError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ForeignTablesError'
  }
}
