const longestShown = 60

/** A value for the text of a refusal: as JSON, shortened if it is long. */
export const shown = (value: unknown): string => {
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  return text.length > longestShown ? `${text.slice(0, longestShown).toWellFormed()}…` : text
}

/**
 * A message without paths of this machine, which no client may see. What only has slashes in it stays: dates, addresses, parts of a text.
 *
 * @example withoutPaths('cannot open "/var/data/x"') // 'cannot open "a file"'
 */
export const withoutPaths = (message: string): string => message.replace(/(?:(?<=\bfile:\/\/)|(?<![\w./-]))(?:\/[\w.-]+){2,}/g, 'a file')

/** The text that replaces a secret. A client that sends it back in the same place leaves the secret unchanged. */
export const mask = '******'
