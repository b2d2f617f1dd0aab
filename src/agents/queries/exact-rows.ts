import type { Json } from '../../../events/common.js'
import { NumberText, parseAst, type AstValue } from '../../sql/engine/ast/json.js'

/** A double has at most this many digits as text, and reading the text gives the same double. */
const exactDigits = 17

/** A number that JavaScript cannot represent, such as a BIGINT beyond 2^53, stays a text as in SQL. */
const numberOf = (text: string): Json => {
  const value = Number(text)
  const isWhole = /^-?\d+$/.test(text)
  const digits = text.replace(/e.*$/i, '').replaceAll(/\D/g, '').length
  const isKept = isWhole ? Number.isSafeInteger(value) : Number.isFinite(value) && digits <= exactDigits
  return isKept ? value : text
}

const exact = (value: AstValue): Json => {
  if (value instanceof NumberText) return numberOf(value.text)
  if (Array.isArray(value)) return value.map(exact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, exact(member)]))
}

const longNumber = /\d{16}/

/** The rows of a chunk, which is JSON arrays separated by commas. No number loses a digit. */
export const exactRows = (chunk: string): Json[][] => {
  const text = `[${chunk}]`
  return (longNumber.test(text) ? exact(parseAst(text)) : JSON.parse(text)) as Json[][]
}
