/**
 * A string without a closing quote matches to the end of the text; JSON.parse then refuses it. The form of the strings needs no memory for
 * each of their characters.
 */
const textsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Every number with fewer digits keeps them. */
const longNumber = /\d[\d.]{15}/

/** The digits of a number, without zeros before and after them. @example digitsOf('-0.0120e5') // '12' */
export const digitsOf = (written: string): string => {
  let [first, end] = [-1, 0]
  for (let at = 0; at < written.length; at++) {
    const code = written.charCodeAt(at)
    if (code === 0x45 || code === 0x65) break
    if (code <= 0x30 || code > 0x39) continue
    if (first < 0) first = at
    end = at + 1
  }
  return first < 0 ? '' : written.slice(first, end).replace('.', '')
}

/**
 * Whether a number in JSON loses digits as a JavaScript number. A whole number beyond 2^53 counts as one that does.
 *
 * @example losesDigits('0.30000000000000004') // false
 * @example losesDigits('12345678901234.5678') // true
 */
export const losesDigits = (written: string): boolean => {
  const value = Number(written)
  if (/^-?\d+$/.test(written)) return !Number.isSafeInteger(value)
  return !Number.isFinite(value) || digitsOf(value.toExponential()) !== digitsOf(written)
}

/** No double needs more digits than these. */
const mostNeeded = 17
/** The most digits that JavaScript prints of a double. */
const mostPrinted = 101

/**
 * Whether a double holds a number as it is written. Its digits must be those that JavaScript prints for the double, or more digits of the
 * double's exact value: some programs print more digits than are needed.
 *
 * @example fitsDouble('0.10000000000000001') // true
 * @example fitsDouble('90071992547409.93') // false
 */
export const fitsDouble = (written: string): boolean => {
  const value = Number(written)
  if (String(value) === written) return true
  const digits = digitsOf(written)
  if (digits.length <= mostNeeded && digitsOf(String(value)) === digits) return true
  return digits !== '' && digits.length <= mostPrinted && digitsOf(value.toExponential(digits.length - 1)) === digits
}

/**
 * Parses JSON and keeps numbers that would lose digits as texts.
 *
 * @example exactJson('[9007199254740993, 0.5]') // ['9007199254740993', 0.5]
 */
export const exactJson = (json: string): unknown =>
  JSON.parse(
    longNumber.test(json)
      ? json.replace(textsAndNumbers, (found) => (!found.startsWith('"') && losesDigits(found) ? `"${found}"` : found))
      : json,
  )
