import {
  putBigint,
  putBoolean,
  putDecimal,
  putDouble,
  putFloat,
  putHugeint,
  putInteger,
  putSmallint,
  putUinteger,
  putUuid,
} from '../../batch/numbers.js'
import { listOf, putList } from '../../batch/lists.js'
import { openScale } from '../../batch/open-scale.js'
import { putDate, putInterval, putTime, putTimestamp, putTimestampTz, putTimeTz } from '../../batch/times.js'
import type { ColumnReading, UnsettledReading } from '../../batch/column-reading.js'
import { ValueError } from '../../batch/value-error.js'
import type { Vector } from '../../batch/vector.js'
import { decimal, decimalMaxDigits, plain, type ColumnType } from '../../contract/types.js'
import { depthOf, flat, parseArray } from './arrays.js'

/** Reads PostgreSQL's text of a value. */
export type TextReading = ColumnReading<string>

/** The values decide the type of numbers without a declared scale, and of arrays of any depth. */
export type UnsettledText = UnsettledReading<string>

/** The known properties of a type that is not built in. */
export type OwnType = { array: { of: number; delimiter: string } } | { text: true }

const putText = (vector: Vector, row: number, text: string): void => vector.setText(row, text)

/** PostgreSQL fills char(n) with blanks, and drops them when it converts it to text. */
const putPadded = (vector: Vector, row: number, text: string): void => vector.setText(row, text.replace(/(?<! ) +$/, ''))

const putBytes = (vector: Vector, row: number, text: string): void => {
  if (!text.startsWith('\\x')) throw new ValueError('bytes come in a form that is not known')
  vector.setBytes(row, Buffer.from(text.slice(2), 'hex'))
}

const text: TextReading = { type: plain('VARCHAR'), put: putText }
const fixedNumber: TextReading = { ...text, numbers: 'fixed' }
const freeNumber: TextReading = { ...text, numbers: 'free' }

const readings: ReadonlyMap<number, TextReading> = new Map<number, TextReading>([
  [16, { type: plain('BOOLEAN'), put: putBoolean }],
  [17, { type: plain('BLOB'), put: putBytes }],
  [20, { type: plain('BIGINT'), put: putBigint }],
  [21, { type: plain('SMALLINT'), put: putSmallint }],
  [23, { type: plain('INTEGER'), put: putInteger }],
  [26, { type: plain('UINTEGER'), put: putUinteger }],
  [114, { type: plain('JSON'), put: putText }],
  [700, { type: plain('FLOAT'), put: putFloat }],
  [701, { type: plain('DOUBLE'), put: putDouble }],
  [1042, { type: plain('VARCHAR'), put: putPadded }],
  [1082, { type: plain('DATE'), put: putDate }],
  [1083, { type: plain('TIME'), put: putTime }],
  [1114, { type: plain('TIMESTAMP'), put: putTimestamp }],
  [1184, { type: plain('TIMESTAMP WITH TIME ZONE'), put: putTimestampTz }],
  [1186, { type: plain('INTERVAL'), put: putInterval }],
  [1266, { type: plain('TIME WITH TIME ZONE'), put: putTimeTz }],
  [2950, { type: plain('UUID'), put: putUuid }],
  [3802, { type: plain('JSON'), put: putText }],
])

/** The arrays that are built in, with the types of their items. */
const arrays: ReadonlyMap<number, number> = new Map([
  ...([[1000, 16], [1001, 17], [1002, 18], [1003, 19], [1016, 20], [1005, 21], [1007, 23], [1028, 26]] as const), // prettier-ignore
  ...([[1009, 25], [199, 114], [651, 650], [1021, 700], [1022, 701], [791, 790], [1040, 829], [1041, 869]] as const), // prettier-ignore
  ...([[1014, 1042], [1015, 1043], [1182, 1082], [1183, 1083], [1115, 1114], [1185, 1184], [1187, 1186]] as const), // prettier-ignore
  ...([
    [1270, 1266],
    [1231, 1700],
    [2951, 2950],
    [3807, 3802],
  ] as const),
])

/** The type of exact numbers. */
const numericOid = 1700
const firstOwnOid = 16_384

/** The shape of a declared numeric; a scale may be negative, or larger than the precision. */
const declaredNumeric = (typmod: number): TextReading => {
  const precision = ((typmod - 4) >> 16) & 0xffff
  const scale = (((typmod - 4) & 0x7ff) ^ 1024) - 1024
  return numeric(scale < 0 ? precision - scale : Math.max(precision, scale), Math.max(scale, 0))
}

const numeric = (width: number, scale: number): TextReading =>
  width > decimalMaxDigits ? fixedNumber : { type: decimal(width, scale), put: putDecimal(width, scale) }

const openNumeric: UnsettledText = {
  settle: (texts) => {
    const scale = openScale(texts)
    return scale === undefined ? freeNumber : numeric(decimalMaxDigits, scale)
  },
}

/** @param declared the dimensions that the table declares, which PostgreSQL does not enforce */
const arrayOf = (item: TextReading | UnsettledText, delimiter: string, declared: number): UnsettledText => ({
  settle: (texts) => {
    const depth = Math.max(declared, 1, ...texts.map((each) => (each === null ? 0 : depthOf(each))))
    const known = 'settle' in item ? item.settle(texts.flatMap((each) => (each === null ? [] : flat(parseArray(each, delimiter))))) : item
    const put = putList(known.put, depth)
    return { ...known, type: listOf(known.type, depth), put: (vector, row, value) => put(vector, row, parseArray(value, delimiter)) }
  },
})

/** Whether a type must be looked up. */
export const isOwn = (oid: number): boolean => oid >= firstOwnOid

/**
 * How to read the values of a type. Types that DuckDB does not have (enums, addresses, ranges, geometry, money, bits, composites) become
 * the text of PostgreSQL.
 */
export const readingOf = (oid: number, typmod: number, own: ReadonlyMap<number, OwnType>, dimensions = 0): TextReading | UnsettledText => {
  if (oid === numericOid) return typmod >= 4 ? declaredNumeric(typmod) : openNumeric
  const known = readings.get(oid)
  if (known) return known
  const item = arrays.get(oid)
  if (item !== undefined) return arrayOf(readingOf(item, typmod, own), ',', dimensions)
  const found = own.get(oid)
  if (found && 'array' in found) return arrayOf(readingOf(found.array.of, typmod, own), found.array.delimiter, dimensions)
  return text
}

/** The reading of a computed column whose type was looked up. */
export const asked = (type: ColumnType, reading: TextReading | UnsettledText): TextReading | UnsettledText => {
  if (type.type === 'HUGEINT') return { type, put: putHugeint }
  return type.type === 'DECIMAL' ? { type, put: putDecimal(type.width, type.scale) } : reading
}
