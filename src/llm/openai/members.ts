import { limits } from '../../basics/limits.js'

/** A value of a provider's answer as an object; undefined if it is not an object. */
export const recordIn = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined

/** A value of a provider's answer as a text; undefined if it is not a text. */
export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** A value of a provider's answer as a list; empty if it is not a list. */
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A value of a provider's answer as a number of tokens; null if it is no such number, or too large to be true. */
export const countIn = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= limits.llmReportedMaxTokens ? Number(value) : null
