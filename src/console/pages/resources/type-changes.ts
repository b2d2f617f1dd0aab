import { literal, quoted, type Column } from '../../api/sql.js'

/** The new type of a column, and the date format of its texts. */
export type ColumnChange = { type: string; format: string }

/** The changes by the names of their columns. */
export type Changes = ReadonlyMap<string, ColumnChange>

export const isText = (type: string): boolean => type === 'VARCHAR'
export const isTime = (type: string): boolean => type === 'DATE' || type === 'TIMESTAMP'

/** The value of a column as the conversion reads it: a text with a date format is a time. */
const read = ({ name, type }: Column, wanted: ColumnChange): string =>
  isText(type) && isTime(wanted.type) && wanted.format.trim() !== ''
    ? `try_strptime(${quoted(name)}, ${literal(wanted.format.trim())})`
    : quoted(name)

/** Converts a column's value to the chosen type; NULL if that is impossible. */
const converted = (column: Column, wanted: ColumnChange): string => `TRY_CAST(${read(column, wanted)} AS ${wanted.type})`

/**
 * The query for the rows of a table with changed types.
 *
 * @example selectOf('homes', [{ name: 'size', type: 'BIGINT' }], new Map([['size', { type: 'DOUBLE', format: '' }]]))
 */
export const selectOf = (file: string, columns: readonly Column[], changes: Changes): string => {
  const values = columns.map((column) => {
    const wanted = changes.get(column.name)
    return `${wanted ? converted(column, wanted) : quoted(column.name)} AS ${quoted(column.name)}`
  })
  return `SELECT ${values.join(', ')} FROM files.${quoted(file)}`
}

/** The digits of a number without those that say nothing: a plus, and zeros at the end of a fraction. */
const digits = (text: string): string => {
  const all = `ltrim(trim(${text}), '+')`
  return `CASE WHEN contains(${all}, '.') THEN rtrim(rtrim(${all}, '0'), '.') ELSE ${all} END`
}

/** A condition for values that stay, but are not the same afterwards: they are rounded, or a time loses its date, or a code its zeros. */
const isLossy = (column: Column, wanted: ColumnChange): string => {
  const [name, value] = [quoted(column.name), converted(column, wanted)]
  const differ = (one: string, other: string) => `${one} IS DISTINCT FROM ${other}`
  const as = (type: string, of: string) => `TRY_CAST(${of} AS ${type})`
  if (wanted.type === 'VARCHAR') return 'false'
  if (!isText(column.type)) return differ(as(column.type, value), name)
  if (isTime(wanted.type)) return differ(as('TIMESTAMP', read(column, wanted)), as('TIMESTAMP', value))
  if (wanted.type === 'TIME') return `${as('TIMESTAMP', name)} IS NOT NULL`
  if (wanted.type === 'BOOLEAN') return 'false'
  const written = `CAST(${value} AS VARCHAR)`
  // The digits of 1e3 are others than those of 1000.
  return `CASE WHEN regexp_matches(${name} || ${written}, '[eE]') THEN ${differ(as('DOUBLE', name), as('DOUBLE', value))}
    ELSE ${differ(digits(name), digits(written))} END`
}

/**
 * The query for what a change would lose: a row for each changed column, with the number of values that become NULL, the number of those
 * that do not stay the same, and one of these before and after.
 */
export const lossesOf = (file: string, columns: readonly Column[], changes: Changes): string =>
  columns
    .flatMap((column) => {
      const wanted = changes.get(column.name)
      if (!wanted) return []
      const [name, value] = [quoted(column.name), converted(column, wanted)]
      const lossy = `FILTER (${value} IS NOT NULL AND ${isLossy(column, wanted)})`
      const [before, after] = [`CAST(${name} AS VARCHAR)`, `CAST(${value} AS VARCHAR)`]
      return `SELECT ${literal(column.name)} AS name, count(*) FILTER (${name} IS NOT NULL AND ${value} IS NULL) AS gone,
        count(*) ${lossy} AS changed, min(${before}) ${lossy} AS before, arg_min(${after}, ${before}) ${lossy} AS after
        FROM files.${quoted(file)}`
    })
    .join(' UNION ALL ')
