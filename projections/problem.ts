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

/** The tables were built by other projections, or from another log: they have to be built again. */
export class StaleTablesError extends Error {
  constructor(readonly reason: 'another release' | 'another log' | 'erasure') {
    super(`The tables have to be rebuilt: ${reason}.`)
    this.name = 'StaleTablesError'
  }
}
