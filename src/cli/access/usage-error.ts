/** The wrong use of a command. The message shows the right use. */
export class UsageError extends Error {}
