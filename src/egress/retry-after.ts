const seconds = /^\d+(?:\.\d+)?$/

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: it holds seconds, or a date. Undefined if it says nothing that can be read.
 *
 * @example retryAfterMs('1.5') // 1500
 */
export const retryAfterMs = (header: string | null | undefined, now = Date.now()): number | undefined => {
  const written = header?.trim() ?? ''
  if (seconds.test(written)) return Number(written) * 1_000
  // The date has at least its month in letters; `Date.parse` would read a number below zero as a year.
  const at = /[a-z]/i.test(written) ? Date.parse(written) : NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
