/** The wrong use of a command. The message says what the command takes. */
export class UsageError extends Error {}
