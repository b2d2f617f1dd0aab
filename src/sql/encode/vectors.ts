import type { DuckDBVector } from '@duckdb/node-api'

export type RawItems =
  | Float64Array
  | Float32Array
  | BigInt64Array
  | BigUint64Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array

const isRaw = (value: unknown): value is RawItems => ArrayBuffer.isView(value) && !(value instanceof DataView)

/**
 * The flat storage of a vector of numbers, or undefined for other kinds. The binding's types hide this storage, but reading value by value
 * through the binding takes ten times as long.
 */
export const rawItems = (vector: DuckDBVector): RawItems | undefined => {
  const items: unknown = Reflect.get(vector, 'items')
  return isRaw(items) ? items : undefined
}

/** The storage of a vector of doubles. */
export const doubles = (vector: DuckDBVector): Float64Array => {
  const items = rawItems(vector)
  if (items instanceof Float64Array) return items
  throw new TypeError('a vector of doubles is expected')
}

/** The validity of a vector without NULLs: every row has a value. */
export const always = (): boolean => true

/** Returns whether a row has a value; `always` when all rows have one. */
export const validityOf = (vector: DuckDBVector): ((row: number) => boolean) => {
  const validity: unknown = Reflect.get(vector, 'validity')
  if (typeof validity !== 'object' || validity === null) return always
  const data: unknown = Reflect.get(validity, 'data')
  const offset: unknown = Reflect.get(validity, 'offset')
  // No bitmap means that every row has a value.
  if (!(data instanceof BigUint64Array)) return always
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length * 2)
  const from = Number(offset)
  return (row) => (((bits[(from + row) >>> 5] ?? 0) >>> ((from + row) & 31)) & 1) === 1
}
