/** Room: the types and names of columns, found from the texts in them. It imports only basics. */

import { dateFinding } from './date-columns.js'
import { shapes } from './shapes.js'
import { missingMarkers } from './shape-of-text.js'

export type ColumnType = 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP' | 'VARCHAR'

/** A column's type and how its text becomes a value: `sql` builds an expression from `text`, which stands for the column. */
export type TypedColumn = { type: ColumnType; sql: (text: string) => string; warning?: string }

type Finding = { type: ColumnType; convert?: (text: string) => string; warning?: string }

const noValue = shapes.empty | shapes.blank | shapes.missing | shapes.padded | shapes.timed
const dotNumbers = shapes.integer | shapes.decimal | shapes.dotThree
const commaNumbers = shapes.commaThree | shapes.commaDecimal | shapes.commaGroups | shapes.dotGroupsComma

const semicolon = 0x3b

const asDouble = (text: string) => `CAST(${text} AS DOUBLE)`
const textBecause = (warning: string): Finding => ({ type: 'VARCHAR', warning })

/**
 * Numbers with commas. The column or the file's separator must show what a comma means. Where it could be a thousands separator as well as
 * a decimal comma the column stays text, since a wrong guess would be wrong by a factor of 1000.
 */
const commaFinding = (seen: number, separator: number): Finding => {
  const has = (bits: number) => (seen & bits) !== 0
  const decimalComma = has(shapes.commaDecimal | shapes.dotGroupsComma) || (separator === semicolon && !has(shapes.commaGroups))
  if (decimalComma && has(shapes.commaGroups)) return textBecause('has commas both as decimal and as thousands separators')
  if (!decimalComma && !has(shapes.commaGroups)) return textBecause('has numbers like "1,234", which may mean 1234 or 1.234')
  if (!decimalComma) return { type: 'DOUBLE', convert: (text) => asDouble(`replace(${text}, ',', '')`) }
  const groupsByDot = has(shapes.dotGroupsComma)
  if (groupsByDot && has(shapes.decimal)) return textBecause('has dots both as decimal and as thousands separators')
  if (!groupsByDot && has(shapes.dotThree) && !has(shapes.decimal)) {
    return textBecause('has decimal commas and numbers like "1.234", which may mean 1234 or 1.234')
  }
  const ungrouped = (text: string) => (groupsByDot ? `replace(${text}, '.', '')` : text)
  return { type: 'DOUBLE', convert: (text) => asDouble(`replace(${ungrouped(text)}, ',', '.')`) }
}

const finding = (seen: number, separator: number): Finding => {
  const values = seen & ~noValue
  const only = (bits: number) => (values & ~bits) === 0
  if (values === 0) return { type: 'VARCHAR' }
  if (only(shapes.integer | shapes.long)) return { type: 'BIGINT' }
  if (only(dotNumbers)) {
    // Tools that write decimal commas separate by semicolons, and may write a thousand as 1.234.
    const mayBeThousands = separator === semicolon && (values & shapes.dotThree) !== 0 && (values & shapes.decimal) === 0
    return mayBeThousands ? textBecause('has numbers like "1.234", which may mean 1234 or 1.234') : { type: 'DOUBLE' }
  }
  if (only(dotNumbers | commaNumbers)) return commaFinding(values, separator)
  if (only(dotNumbers | commaNumbers | shapes.long | shapes.inexact)) {
    const why =
      (values & shapes.inexact) !== 0
        ? 'has numbers that neither 64 bits nor a DOUBLE hold exactly'
        : 'has fractions and integers that a DOUBLE cannot hold exactly'
    return textBecause(why)
  }
  if (only(shapes.boolean)) return { type: 'BOOLEAN' }
  return dateFinding(values, (seen & shapes.timed) !== 0) ?? { type: 'VARCHAR' }
}

const markerList = missingMarkers.map((marker) => `'${marker}'`).join(', ')

/** The text to convert: without blanks around it, and NULL for texts that mean a missing value in this column. */
const cleaned = (text: string, seen: number): string => {
  const trimmed = (seen & (shapes.blank | shapes.padded)) === 0 ? text : `nullif(trim(${text}, ' ' || chr(9)), '')`
  return (seen & shapes.missing) === 0 ? trimmed : `CASE WHEN ${trimmed} IN (${markerList}) THEN NULL ELSE ${trimmed} END`
}

/** A value of a column, and its line. */
export type Place = { line: number; text: string }

const withPlace = (warning: string, noDay: Place | undefined): string =>
  noDay === undefined ? warning : `${warning}: ${JSON.stringify(noDay.text)} in line ${noDay.line}`

/**
 * Decides a column's type from the shapes of all its values. Nothing is lost: a column with one value that doesn't fit stays text. Markers
 * such as NA are NULL in a column of any other type, and stay as they are in text.
 *
 * @param noDay the first value that looks like a date but does not exist in the calendar
 * @example columnType(shapes.integer | shapes.commaDecimal, 0x2c).type // 'DOUBLE'
 */
export const columnType = (seen: number, separator: number, noDay?: Place): TypedColumn => {
  const { type, convert = (text: string) => `CAST(${text} AS ${type})`, warning } = finding(seen, separator)
  if (type === 'VARCHAR') {
    const told = warning === undefined ? {} : { warning: `${withPlace(warning, noDay)}; it stays text` }
    return { type, sql: (text) => text, ...told }
  }
  const notes = [warning, (seen & shapes.missing) === 0 ? undefined : 'has markers such as NA, which are read as NULL'].filter(
    (note) => note !== undefined,
  )
  return { type, sql: (text) => convert(cleaned(text, seen)), ...(notes.length > 0 && { warning: notes.join('; ') }) }
}
