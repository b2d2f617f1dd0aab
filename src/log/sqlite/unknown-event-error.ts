/** An event that this release does not know, or whose data it cannot read: a newer release wrote it. */
export class UnknownEventError extends Error {
  constructor(
    readonly position: number,
    type: string,
    cause: unknown,
  ) {
    super(`a newer release wrote the event at position ${position}, of the type ${type}`, { cause })
  }
}
