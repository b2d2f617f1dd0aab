import { decimalMaxDigits } from '../contract/types.js'
import { digitsOf } from './numbers.js'

/**
 * The scales for numbers whose declaration allows more digits than an exact type has, in the order in which they are tried: computed
 * numbers have 16 to 24 digits behind the point. If none fits, the digits that are left are shared by both sides of the point.
 */
const scales = [16, 24, 0] as const

/**
 * The digits behind the point for such a column, by the digits that its numbers use; undefined if no exact type holds them all.
 *
 * @param most the digits behind the point that the declaration allows
 * @example openScale(['123456789.5', '0.3']) // 16
 */
export const openScale = (texts: readonly (string | null)[], most = Infinity): number | undefined => {
  let [before, behind] = [0, 0]
  for (const each of texts) {
    if (each === null) continue
    const digits = digitsOf(each)
    before = Math.max(before, digits?.before ?? 0)
    behind = Math.max(behind, digits?.behind ?? 0)
  }
  if (before + behind > decimalMaxDigits) return undefined
  const known = scales.map((scale) => Math.min(scale, most)).find((scale) => behind <= scale && before <= decimalMaxDigits - scale)
  return known ?? Math.min(most, behind + Math.floor((decimalMaxDigits - before - behind) / 2))
}
