import { isUtf8 } from 'node:buffer'
import {
  putBigint,
  putDecimal,
  putDouble,
  putFloat,
  putInteger,
  putSmallint,
  putTinyint,
  putUbigint,
  putUinteger,
  putUsmallint,
  putUtinyint,
  putUuid,
} from '../../batch/numbers.js'
import { openScale } from '../../batch/open-scale.js'
import { daysOf, putDate, putSpan, putTimestamp, putTimestampTz, spanMicros } from '../../batch/times.js'
import type { ColumnReading, UnsettledReading } from '../../batch/column-reading.js'
import type { Vector } from '../../batch/vector.js'
import { decimal, decimalMaxDigits, plain, type PlainType } from '../../contract/types.js'

/** A column as an answer of MySQL describes it. */
export type Field = {
  name: string
  columnType: number
  flags: number
  characterSet: number
  columnLength: number
  decimals: number
  /** MariaDB describes JSON, UUID and other types in this way. */
  extendedTypeName?: string
  extendedFormat?: string
}

/** Reads the bytes that MySQL sends for a value. */
export type BytesReading = ColumnReading<Buffer>

/** The values decide the type: such numbers are declared with more digits than an exact type has, but rarely use all of them. */
export type UnsettledBytes = UnsettledReading<Buffer>

type PutText = (vector: Vector, row: number, text: string) => void

const ofText = (type: PlainType, put: PutText): BytesReading => ({
  type: plain(type),
  put: (vector, row, bytes) => put(vector, row, bytes.toString('latin1')),
})

const isOfCalendar = (text: string): boolean => {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))]
  if (year === 0 || month === 0 || day === 0) return false
  return day <= 28 || day <= daysOf(year, month + 1, 1) - daysOf(year, month, 1)
}

/** A day that does not exist, such as 0000-00-00 or 2024-02-31, is NULL. */
const ofDay = (type: PlainType, put: PutText): BytesReading => ({
  type: plain(type),
  put: (vector, row, bytes) => {
    const text = bytes.toString('latin1')
    if (isOfCalendar(text)) put(vector, row, text)
    else vector.setNull(row)
  },
})

/** Texts come in UTF-8. Bytes that are not valid UTF-8 become the replacement character. */
const putBytesAsText = (vector: Vector, row: number, bytes: Buffer): void =>
  isUtf8(bytes) ? vector.setBytes(row, bytes) : vector.setText(row, bytes.toString())

const text: BytesReading = { type: plain('VARCHAR'), put: putBytesAsText }
const json: BytesReading = { type: plain('JSON'), put: putBytesAsText }
const bytes: BytesReading = { type: plain('BLOB'), put: (vector, row, value) => vector.setBytes(row, value) }
const bits: BytesReading = {
  type: plain('UBIGINT'),
  put: ({ data }, row, value) => void data.writeBigUInt64LE(BigInt(`0x${value.toString('hex') || '0'}`), row * 8),
}
/** A time of MySQL is a span of up to 838 hours, in both directions. */
const span: BytesReading = {
  type: plain('INTERVAL'),
  put: (vector, row, value) => putSpan(vector, row, 0, 0, spanMicros(value.toString('latin1'))),
}

const unsignedFlag = 32
const binaryCharset = 63

const decimalOf = ({ columnLength, decimals, flags }: Field): BytesReading | UnsettledBytes => {
  const width = columnLength - (decimals > 0 ? 1 : 0) - ((flags & unsignedFlag) === 0 ? 1 : 0)
  const exact = (digits: number, scale: number): BytesReading => {
    const put = putDecimal(digits, scale)
    return { type: decimal(digits, scale), put: (vector, row, value) => put(vector, row, value.toString('latin1')) }
  }
  if (width <= decimalMaxDigits) return exact(Math.max(width, decimals, 1), decimals)
  // A sum of BIGINT is declared with 41 digits.
  return {
    settle: (values) => {
      const scale = openScale(
        values.map((value) => value?.toString('latin1') ?? null),
        decimals,
      )
      // A zero may have a sign.
      return scale === undefined ? { ...text, numbers: 'free' } : exact(decimalMaxDigits, scale)
    },
  }
}

const integers: Readonly<Record<number, readonly [signed: BytesReading, unsigned: BytesReading]>> = {
  1: [ofText('TINYINT', putTinyint), ofText('UTINYINT', putUtinyint)],
  2: [ofText('SMALLINT', putSmallint), ofText('USMALLINT', putUsmallint)],
  3: [ofText('INTEGER', putInteger), ofText('UINTEGER', putUinteger)],
  8: [ofText('BIGINT', putBigint), ofText('UBIGINT', putUbigint)],
  9: [ofText('INTEGER', putInteger), ofText('UINTEGER', putUinteger)],
}

const withoutZone = ofDay('TIMESTAMP', putTimestamp)

const others: Readonly<Record<number, BytesReading>> = {
  4: ofText('FLOAT', putFloat),
  5: ofText('DOUBLE', putDouble),
  7: ofDay('TIMESTAMP WITH TIME ZONE', (vector, row, value) => putTimestampTz(vector, row, `${value}+00`)),
  10: ofDay('DATE', putDate),
  11: span,
  12: withoutZone,
  13: ofText('SMALLINT', putSmallint),
  14: ofDay('DATE', putDate),
  16: bits,
  245: json,
  255: bytes,
}

/** The reading of a FLOAT that was selected as a DOUBLE. As a FLOAT, MySQL writes only six of its digits. */
export const floatReading: BytesReading = others[4] ?? text

/** Whether a column has decimal numbers, whose declaration may allow more digits than an exact type has. */
const isDecimal = ({ columnType }: Field): boolean => columnType === 0 || columnType === 246

/** How to read the values of a column: in the type that holds each value exactly. `isUtc`: the server writes times of UTC. */
export const readingOf = (field: Field, isUtc: boolean): BytesReading | UnsettledBytes => {
  const { columnType, flags, characterSet, extendedFormat, extendedTypeName } = field
  if (extendedFormat === 'json') return json
  if (extendedTypeName === 'uuid') return ofText('UUID', putUuid)
  if (isDecimal(field)) return decimalOf(field)
  if (columnType === 7 && !isUtc) return withoutZone
  const integer = integers[columnType]
  if (integer) return integer[(flags & unsignedFlag) === 0 ? 0 : 1]
  return others[columnType] ?? (characterSet === binaryCharset && columnType !== 6 ? bytes : text)
}
