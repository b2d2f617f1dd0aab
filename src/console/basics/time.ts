/**
 * The time that a DATE or TIMESTAMP means; one without a zone is in UTC.
 *
 * @example timeOf('2024-01-02 03:04:05+00').toISOString() // '2024-01-02T03:04:05.000Z'
 */
export const timeOf = (text: string): Date => {
  // JavaScript reads an offset only with its minutes.
  const written = text.replace(' ', 'T').replace(/(T.*[+-]\d\d)$/, '$1:00')
  return new Date(/T[^Z+-]*$/.test(written) ? `${written}Z` : written)
}
