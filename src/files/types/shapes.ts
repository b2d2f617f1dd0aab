/**
 * The shapes of a value's text. Each value has one shape; a column's type follows from the set of shapes of all its rows, so the set is
 * kept as bits.
 */
export const shapes = {
  empty: 1 << 0,
  blank: 1 << 1, // spaces and tabs only
  missing: 1 << 2, // NA, NULL and similar
  integer: 1 << 3, // held exactly by a double too
  long: 1 << 4, // needs 64 bits
  inexact: 1 << 5, // a number that neither 64 bits nor a double hold exactly
  decimal: 1 << 6, // 1.5 2e10
  dotThree: 1 << 7, // 1.234 may be a thousand
  commaThree: 1 << 8, // 1,234 may be a thousand
  commaDecimal: 1 << 9, // 640,56
  commaGroups: 1 << 10, // 1,234,567 1,234.5
  dotGroupsComma: 1 << 11, // 1.234,5
  boolean: 1 << 12,
  date: 1 << 13, // 2026-01-31
  looseDate: 1 << 14, // 2026/01/31 2026-1-31
  dotDate: 1 << 15, // 31.01.2026
  timestamp: 1 << 16, // 2026-01-31 12:00
  zonedTimestamp: 1 << 17, // 2026-01-31T12:00:00Z
  text: 1 << 18,
  padded: 1 << 19, // besides the shape: blanks around the value
  dayMonth: 1 << 20, // 31/01/2026, where the first number is no month
  monthDay: 1 << 21, // 01/31/2026
  eitherDay: 1 << 22, // 01/02/2026, which may be in January or in February
  sameDay: 1 << 23, // 01/01/2026, the same day either way
  yearMonth: 1 << 24, // 2026-01 2026/1
  monthYear: 1 << 25, // 01/2026
  season: 1 << 26, // 2005-06, which may be a month or the years 2005 and 2006
  namedDay: 1 << 27, // 31 Jan 2026, January 31, 2026
  namedMonth: 1 << 28, // Jan 2026
  noDay: 1 << 29, // 31/02/2026, a day that does not exist
  timed: 1 << 30, // besides the shape of a date that is not ISO: a time of day follows
} as const
