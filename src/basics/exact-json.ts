/** A string without a closing quote matches to the end of the text; JSON.parse then refuses it. */
const textsAndNumbers = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const isRounded = (found: string): boolean => /^-?\d{16,}$/.test(found) && !Number.isSafeInteger(Number(found))

/**
 * Parses JSON and keeps whole numbers beyond 2^53 as texts, because as numbers they would be rounded.
 *
 * @example exactJson('[9007199254740993]') // ['9007199254740993']
 */
export const exactJson = (json: string): unknown =>
  JSON.parse(/\d{16}/.test(json) ? json.replace(textsAndNumbers, (found) => (isRounded(found) ? `"${found}"` : found)) : json)
