import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  DuckDBUnionType,
  DuckDBUnionValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'
import { dateText, nanosecondsText, timestampText } from './times.js'

/** The shortest decimal text that is the same 32-bit number: 0.1, not 0.10000000149011612. */
export const floatText = (value: number): string => {
  for (let digits = 6; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits))
    if (Math.fround(text) === value) return String(text)
  }
  return String(value)
}

/** A finite number is its text, in the shortest form that reads back as the same number; NaN and the infinities are null. */
export const numberText = (value: number, isFloat: boolean): string => {
  if (!Number.isFinite(value)) return 'null'
  return isFloat ? floatText(value) : String(value)
}

const quoted = (text: string) => `"${text}"`

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

const list = (items: readonly DuckDBValue[], type: DuckDBType): string => `[${items.map((item) => valueText(item, type)).join(',')}]`

/** A map becomes an object; its keys are texts, as JSON has no other ones. */
const mapKey = (key: DuckDBValue, type: DuckDBType): string => {
  const text = valueText(key, type)
  return text.startsWith('"') ? text : JSON.stringify(text)
}

const nested = (value: DuckDBValue, type: DuckDBType): string | undefined => {
  if (value instanceof DuckDBListValue && type instanceof DuckDBListType) return list(value.items, type.valueType)
  if (value instanceof DuckDBArrayValue && type instanceof DuckDBArrayType) return list(value.items, type.valueType)
  if (value instanceof DuckDBStructValue && type instanceof DuckDBStructType) {
    const entries = type.entryNames.map(
      (name, i) => `${JSON.stringify(name)}:${valueText(value.entries[name] ?? null, type.entryTypes[i] ?? type)}`,
    )
    return `{${entries.join(',')}}`
  }
  if (value instanceof DuckDBMapValue && type instanceof DuckDBMapType)
    return `{${value.entries.map((entry) => `${mapKey(entry.key, type.keyType)}:${valueText(entry.value, type.valueType)}`).join(',')}}`
  if (value instanceof DuckDBUnionValue && type instanceof DuckDBUnionType) return valueText(value.value, type.memberTypeForTag(value.tag))
  return undefined
}

const moment = (value: DuckDBValue): string | undefined => {
  if (value instanceof DuckDBTimestampValue) return timestampText(value.micros)
  if (value instanceof DuckDBTimestampTZValue) return `${timestampText(value.micros)}+00:00`
  if (value instanceof DuckDBDateValue) return dateText(value.days)
  if (value instanceof DuckDBTimestampSecondsValue) return timestampText(value.seconds * 1_000_000n)
  if (value instanceof DuckDBTimestampMillisecondsValue) return timestampText(value.millis * 1_000n)
  return value instanceof DuckDBTimestampNanosecondsValue ? nanosecondsText(value.nanos) : undefined
}

/**
 * One value as JSON text. What each type becomes:
 * integers of any width and DECIMAL are exact numbers; FLOAT and DOUBLE the shortest number that reads back the same, NaN and
 * infinities null; TIMESTAMP `"2024-01-02 03:04:05.678000"` (nanoseconds with nine digits), TIMESTAMPTZ the same in UTC with
 * `+00:00`; DATE `"2024-01-02"`; TIME, INTERVAL, BIT, ENUM, UUID and JSON their text; BLOB lower-case hex; LIST and ARRAY
 * arrays; STRUCT and MAP objects (keys as text); UNION its value.
 */
export const valueText = (value: DuckDBValue, type: DuckDBType): string => {
  if (value === null) return 'null'
  if (typeof value === 'number') return numberText(value, type.typeId === DuckDBTypeId.FLOAT)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof DuckDBDecimalValue) return value.toString()
  if (value instanceof DuckDBBlobValue) return quoted(hex(value.bytes))
  const text = moment(value)
  if (text !== undefined) return quoted(text)
  return nested(value, type) ?? JSON.stringify(String(value))
}
