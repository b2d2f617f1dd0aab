import { DuckDBDecimalType, DuckDBTypeId, DuckDBVariantValue, type DuckDBType, type DuckDBVector } from '@duckdb/node-api'
import { integerTypes } from './integer-types.js'
import { rawItems, validityOf, type RawItems } from './vectors.js'
import { storedBytesOf } from './stored-bytes.js'
import type { Style } from './styles.js'
import type { TextBytes } from './text-bytes.js'
import { dateText, writeMoment, writeTimestamp, type MomentUnit } from './times.js'

/** Writes the value of a row that is not NULL. */
export type Cell = (row: number) => void

/** The shortest decimal text for the same 32-bit number: 0.1, not 0.10000000149011612. */
const shortestFloat = (value: number): number => {
  for (let digits = 6; digits <= 9; digits++) {
    const shorter = Number(value.toPrecision(digits))
    if (Math.fround(shorter) === value) return shorter
  }
  return value
}

type BigIntArray = BigInt64Array | BigUint64Array

const isBig = (items: RawItems): items is BigIntArray => items instanceof BigInt64Array || items instanceof BigUint64Array

/** 64-bit integers as numbers, computed from two halves in a tenth of the time. NaN if a number cannot hold the integer exactly. */
const numbersOf = (items: BigIntArray): ((row: number) => number) => {
  const halves = new Uint32Array(items.buffer, items.byteOffset, items.length * 2)
  const signed = items instanceof BigInt64Array
  return (row) => {
    const high = halves[row * 2 + 1] ?? 0
    const number = (signed ? high | 0 : high) * 4_294_967_296 + (halves[row * 2] ?? 0)
    return Number.isSafeInteger(number) ? number : NaN
  }
}

/** Integers and decimals of up to 64 bits. */
const wholeCell = (items: RawItems, scale: number, out: TextBytes): Cell => {
  if (!isBig(items)) return (row) => out.decimal(Number(items[row]), scale)
  const numbers = numbersOf(items)
  return (row) => {
    const number = numbers(row)
    if (!Number.isNaN(number)) out.decimal(number, scale)
    else out.ascii(pointed(items[row] ?? 0n, scale))
  }
}

/** `pointed(-5n, 2)` → `-0.05` */
const pointed = (value: bigint, scale: number): string => {
  if (scale === 0) return String(value)
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const finiteCell = (items: RawItems, out: TextBytes, { nothing }: Style): Cell => {
  const shortest = items instanceof Float32Array ? shortestFloat : (value: number) => value
  return (row) => {
    const value = Number(items[row])
    if (Number.isFinite(value)) out.number(shortest(value))
    else out.ascii(nothing)
  }
}

const units: Partial<Record<DuckDBTypeId, MomentUnit>> = {
  [DuckDBTypeId.TIMESTAMP_S]: 1n,
  [DuckDBTypeId.TIMESTAMP_MS]: 1_000n,
  [DuckDBTypeId.TIMESTAMP]: 1_000_000n,
  [DuckDBTypeId.TIMESTAMP_TZ]: 1_000_000n,
  [DuckDBTypeId.TIMESTAMP_NS]: 1_000_000_000n,
}

const momentCell = (items: BigIntArray, perSecond: MomentUnit, zone: string, out: TextBytes, { mark }: Style): Cell => {
  const numbers = numbersOf(items)
  return (row) => {
    const number = perSecond === 1_000_000n ? numbers(row) : NaN
    out.ascii(mark)
    if (Number.isNaN(number)) writeMoment(out, items[row] ?? 0n, perSecond, zone)
    else writeTimestamp(out, number, zone)
    out.ascii(mark)
  }
}

const ofNumbers = (items: RawItems, type: DuckDBType, out: TextBytes, style: Style): Cell | undefined => {
  const { typeId } = type
  if (integerTypes.has(typeId)) return wholeCell(items, 0, out)
  if (type instanceof DuckDBDecimalType) return wholeCell(items, type.scale, out)
  if (typeId === DuckDBTypeId.DOUBLE || typeId === DuckDBTypeId.FLOAT) return finiteCell(items, out, style)
  if (typeId === DuckDBTypeId.DATE) return (row) => out.ascii(`${style.mark}${dateText(Number(items[row]))}${style.mark}`)
  const perSecond = units[typeId]
  if (perSecond === undefined || !isBig(items)) return undefined
  return momentCell(items, perSecond, typeId === DuckDBTypeId.TIMESTAMP_TZ ? '+00:00' : '', out, style)
}

const textCell = (vector: DuckDBVector, out: TextBytes, { text }: Style): Cell => {
  const read = storedBytesOf(vector, validityOf(vector))
  const write = (bytes: Uint8Array, from: number, to: number) => text(out, bytes, from, to)
  return (row) => read(row, write)
}

const hexCell = (vector: DuckDBVector, out: TextBytes, { mark }: Style): Cell => {
  const read = storedBytesOf(vector, validityOf(vector))
  const write = (bytes: Uint8Array, from: number, to: number) => out.ascii(Buffer.from(bytes.subarray(from, to)).toString('hex'))
  return (row) => {
    out.ascii(mark)
    read(row, write)
    out.ascii(mark)
  }
}

/** Types that are rare or have no faster way. The binding reads them, and they are written like DuckDB's texts. */
const otherCell = (vector: DuckDBVector, out: TextBytes, { text, nothing }: Style): Cell => {
  return (row) => {
    const value = vector.getItem(row)
    if (typeof value === 'bigint') {
      out.ascii(String(value))
      return
    }
    // The binding does not show whether a VARIANT is NULL or contains a NULL.
    if (value === null || (value instanceof DuckDBVariantValue && value.value === null)) {
      out.ascii(nothing)
      return
    }
    const bytes = Buffer.from(String(value))
    text(out, bytes, 0, bytes.length)
  }
}

const booleanCell = (vector: DuckDBVector, out: TextBytes): Cell => {
  const view: unknown = Reflect.get(vector, 'dataView')
  if (!(view instanceof DataView)) throw new TypeError('a column of booleans is expected')
  return (row) => out.ascii(view.getUint8(row) === 0 ? 'false' : 'true')
}

/** The writer of a column that contains no other columns. */
export const plainCell = (vector: DuckDBVector, type: DuckDBType, out: TextBytes, style: Style): Cell => {
  const items = rawItems(vector)
  const ofItems = items && ofNumbers(items, type, out, style)
  if (ofItems) return ofItems
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return booleanCell(vector, out)
    case DuckDBTypeId.VARCHAR:
      return textCell(vector, out, style)
    case DuckDBTypeId.BLOB:
    case DuckDBTypeId.GEOMETRY:
      return hexCell(vector, out, style)
    case DuckDBTypeId.DECIMAL:
      return (row) => out.ascii(String(vector.getItem(row)))
    default:
      return otherCell(vector, out, style)
  }
}
