const charsPerToken = 4

/** About how many tokens a text has: a quarter of its characters, since each model counts in its own way. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / charsPerToken)

/** The beginning of a text, with a mark where it was cut; whole characters only. */
export const cutText = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max).toWellFormed()} …`)
