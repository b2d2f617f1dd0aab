/** Types without parameters, by their names in DuckDB, with the bytes that a value takes in a vector. */
const plainTypes = {
  BOOLEAN: 1,
  TINYINT: 1,
  SMALLINT: 2,
  INTEGER: 4,
  BIGINT: 8,
  UTINYINT: 1,
  USMALLINT: 2,
  UINTEGER: 4,
  UBIGINT: 8,
  HUGEINT: 16,
  FLOAT: 4,
  DOUBLE: 8,
  DATE: 4,
  TIME: 8,
  'TIME WITH TIME ZONE': 8,
  TIMESTAMP: 8,
  TIMESTAMP_NS: 8,
  'TIMESTAMP WITH TIME ZONE': 8,
  INTERVAL: 16,
  UUID: 16,
  VARCHAR: 16,
  BLOB: 16,
  JSON: 16,
} as const

export type PlainType = keyof typeof plainTypes

/** The type that a column has in DuckDB. */
export type ColumnType = { type: PlainType } | { type: 'DECIMAL'; width: number; scale: number } | { type: 'LIST'; of: ColumnType }

/**
 * Numbers that come as texts because no exact type has so many digits. If all have the same digits behind the point (`fixed`), equal
 * numbers have equal texts.
 */
export type NumberTexts = 'fixed' | 'free'

/** A column of an answer. Names are unique, compared without case. */
export type AnswerColumn = { name: string; type: ColumnType; numbers?: NumberTexts }

/** The most digits that DuckDB counts exactly. */
export const decimalMaxDigits = 38

/** A type without parameters, as the type of a column. @example plain('VARCHAR') // { type: 'VARCHAR' } */
export const plain = (type: PlainType): ColumnType => ({ type })

/** A DECIMAL of that shape, or VARCHAR if it has more digits than DuckDB counts exactly. */
export const decimal = (width: number, scale: number): ColumnType =>
  width > decimalMaxDigits ? plain('VARCHAR') : { type: 'DECIMAL', width, scale }

/** The type as SQL writes it. @example sqlType({ type: 'LIST', of: { type: 'DECIMAL', width: 9, scale: 2 } }) // 'DECIMAL(9,2)[]' */
export const sqlType = (column: ColumnType): string => {
  if (column.type === 'LIST') return `${sqlType(column.of)}[]`
  return column.type === 'DECIMAL' ? `DECIMAL(${column.width},${column.scale})` : column.type
}

const decimalBytes = (width: number): number => (width <= 4 ? 2 : width <= 9 ? 4 : width <= 18 ? 8 : 16)

/** How many bytes a value takes in a vector; texts keep their first twelve bytes there, lists their place in the child vector. */
export const bytesPerValue = (column: ColumnType): number => {
  if (column.type === 'LIST') return 16
  return column.type === 'DECIMAL' ? decimalBytes(column.width) : plainTypes[column.type]
}

/** Whether the values of a type are bytes of any length. */
export const isText = ({ type }: ColumnType): boolean => type === 'VARCHAR' || type === 'BLOB' || type === 'JSON'
