import { sqlName, sqlString } from '../../../files/tables/staged-table.js'

const exactNumber = /^(?:DECIMAL\(\d+,(\d+)\)|U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$/
const moment = /^(?:DATE|TIME|TIMESTAMP(?:_S|_MS|_NS| WITH TIME ZONE)?)$/
const nested = /[\])]$/

/** The digits of a second that a type of times holds. */
const secondDigits = (type: string): number => ({ DATE: 0, TIMESTAMP_S: 0, TIMESTAMP_MS: 3, TIMESTAMP_NS: 9 })[type] ?? 6

/** A text without spaces and quotes, because a cast to a nested type and back adds or removes these. */
const bare = (text: string): string => `lower(regexp_replace(${text}, '[\\s''"]', '', 'g'))`

/** Whether a number in a text has other digits than zeros beyond those of a column. A number with an exponent is compared as a DOUBLE. */
const cutNumber = (value: string, cast: string, digits: number): string =>
  `CASE WHEN contains(lower(${value}), 'e') THEN TRY_CAST(${value} AS DOUBLE) <> CAST(${cast} AS DOUBLE)
    ELSE regexp_matches(${value}, '\\.([0-9]_?){${digits}}[0-9_]*[1-9]') END`

/** Whether a text has a finer time, a time of day, or an offset that a column of times would leave out. */
const cutMoment = (value: string, cast: string, type: string): string => {
  if (type === 'TIME') return `NOT regexp_full_match(${value}, '\\s*[0-9:]+(\\.[0-9]{1,6}0*)?\\s*')`
  // A text from JSON is in quotes.
  const zoned = (of: string): string => `TRY_CAST(trim(CAST(${of} AS VARCHAR), '"') AS TIMESTAMP WITH TIME ZONE)`
  return `regexp_matches(${value}, ':[0-9]+\\.[0-9]{${secondDigits(type)}}[0-9]*[1-9]') OR ${zoned(value)} IS DISTINCT FROM ${zoned(cast)}`
}

/** Whether the cast of a text loses something. Texts in columns of DOUBLE, texts, booleans and others lose nothing, or cannot be cast. */
const cutText = (value: string, cast: string, type: string): string | undefined => {
  const number = exactNumber.exec(type)
  if (number) return cutNumber(value, cast, Number(number[1] ?? 0))
  if (moment.test(type)) return cutMoment(value, cast, type)
  return nested.test(type) ? `${bare(value)} <> ${bare(`CAST(${cast} AS VARCHAR)`)}` : undefined
}

/** A type in which FLOAT and DOUBLE are one type. Columns of these types round numbers anyway, even those of type DECIMAL. */
const withoutFloats = (type: string): string => type.replace(/\b(?:FLOAT|DOUBLE)\b/g, 'number').replace(/\[\d+\]/g, '[]')
const withoutFractions = (type: string): string => withoutFloats(type).replace(/\bDECIMAL\(\d+,\d+\)/g, 'number')

/** Whether a cast to the type of a column would change a value without an error, as SQL. Undefined if it never does. */
const changed = (value: string, cast: string, given: string, type: string): string | undefined => {
  if (type === 'VARCHAR' || given === type || withoutFractions(given) === withoutFloats(type)) return undefined
  // Only a text can be cast back to an enumeration, so its values are compared as texts.
  if (given === 'VARCHAR' || given.startsWith('ENUM(')) return cutText(`CAST(${value} AS VARCHAR)`, cast, type)
  // A TIME has no day, so it always loses the day of a value.
  if (type === 'TIME') return `${value} IS NOT NULL`
  // SQL cannot write a type that has fields without names.
  const back = given.includes('""') ? `TRY(cast_to_type(${cast}, ${value}))` : `TRY_CAST(${cast} AS ${given})`
  return `${back} IS DISTINCT FROM ${value}`
}

/**
 * The value for a column, which gets the values of a type, or NULL without one. A value that the column cannot hold, or only with a
 * change, is an error: a value has to be the same when it is cast back.
 *
 * @example fittedValue({ name: 'day', type: 'DATE' }, 'TIMESTAMP') // CASE WHEN TRY_CAST(CAST("day" AS DATE) AS TIMESTAMP) IS DISTINCT …
 */
export const fittedValue = ({ name, type }: { name: string; type: string }, given: string | undefined): string => {
  const value = sqlName(name)
  if (given === undefined) return `CAST(NULL AS ${type}) AS ${value}`
  const cast = `CAST(${value} AS ${type})`
  const isChanged = changed(value, cast, given, type)
  if (isChanged === undefined) return `${cast} AS ${value}`
  const [what, hint] = [`Column "${name}" is ${type}, which would change `, `. Round it, or CAST it to ${type}.`].map(sqlString)
  return `CASE WHEN ${isChanged} THEN error(${what} || CAST(${value} AS VARCHAR) || ${hint}) ELSE ${cast} END AS ${value}`
}
