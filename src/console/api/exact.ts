import { rowsOf, run, type Column, type Row, type Statement, type Value } from './sql.js'
import { writtenValues } from './as-objects.js'
import { ofQuery } from './silence-timer.js'

/** Types whose numbers may have more digits than a JavaScript number keeps, even inside lists and structs. */
const manyDigits = /BIGINT|HUGEINT|BIGNUM|DECIMAL/
/** More than the 15 digits that every number keeps. */
const long = /\d[\d.]{15}/
const decoder = new TextDecoder()

/**
 * The rows of a piece, without loss of digits: a number that would lose digits is returned as its text, and so is a list or a struct that
 * contains one.
 *
 * @example exactRowsOf(bytes, [{ name: 'n', type: 'BIGINT' }]) // [['9007199254740993'], [1]]
 */
export const exactRowsOf = (piece: Uint8Array, columns: readonly Column[]): Row[] => {
  const areLong = columns.map(({ type }) => manyDigits.test(type))
  if (!areLong.includes(true)) return rowsOf(piece)
  const text = decoder.decode(piece)
  if (!long.test(text)) return JSON.parse(text) as Row[]
  const valueOf = (written: string, i: number): Value =>
    areLong[i] === true && !written.startsWith('"') && long.test(written) ? written : (JSON.parse(written) as Value)
  return Array.from(writtenValues(text), (values) => values.map(valueOf))
}

/**
 * Runs a query with a small answer, and reads all its rows without loss of digits.
 *
 * @example await exactTable({ query: 'SELECT 9007199254740993 AS n' }) // { columns: [{ name: 'n', type: 'BIGINT' }], rows: [['9007199254740993']] }
 * @throws ApiError
 */
export const exactTable = async (statement: Statement): Promise<{ columns: Column[]; rows: Row[] }> => {
  const answer = await run(statement, ofQuery)
  if (answer.type === 'ok') return { columns: [], rows: [] }
  const rows: Row[] = []
  for await (const piece of answer.pieces) rows.push(...exactRowsOf(piece, answer.columns))
  return { columns: answer.columns, rows }
}

const partsOf = (written: string): [whole: string, fraction: string] | undefined => {
  const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(written) ?? []
  return whole === undefined ? undefined : [whole, fraction]
}

/**
 * Compares two numbers. Each may be a text, if it has more digits than a number keeps.
 *
 * @example compareNumbers('9007199254740993', 9007199254740992) // 1
 */
export const compareNumbers = (a: number | string, b: number | string): number => {
  const rough = Number(a) - Number(b)
  if (rough !== 0 || (typeof a === 'number' && typeof b === 'number')) return rough
  const [one, other] = [partsOf(String(a)), partsOf(String(b))]
  if (!one || !other) return rough
  const places = Math.max(one[1].length, other[1].length)
  const [left, right] = [one, other].map(([whole, fraction]) => BigInt(whole + fraction.padEnd(places, '0')))
  return left === right ? 0 : (left ?? 0n) < (right ?? 0n) ? -1 : 1
}
