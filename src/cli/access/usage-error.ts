/** A command that was called in a way that it cannot be. The message says what it takes. */
export class UsageError extends Error {}
