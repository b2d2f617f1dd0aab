const longestShown = 60

/** A value for the text of a refusal: as JSON, shortened if it is long. */
export const shown = (value: unknown): string => {
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  return text.length > longestShown ? `${text.slice(0, longestShown).toWellFormed()}…` : text
}
