/** Limits that belong to the language of the log itself: an event beyond them is never written. */
export const eventLimits = { nameMaxChars: 255, jsonMaxDepth: 64, textMaxChars: 1_000_000 } as const
