/**
 * Whether a JSON value is nested deeper than a number of levels. Only so many are looked at: `JSON.stringify` has no room on the stack for
 * thousands of them.
 *
 * @example isNestedDeeper([[1]], 1) // true
 */
export const isNestedDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((member) => isNestedDeeper(member, levels - 1)))
