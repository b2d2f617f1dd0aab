/** The meaning of a backslash with the character after it, as clients of MySQL write them. */
const mysqlEscapes: Record<string, string> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a', '\\': '\\', "'": "'", '"': '"' }

/**
 * Decodes the inside of a quoted text. A backslash before a character that is not an escape stays, so that
 * regular expressions such as '\d+' mean what they say.
 *
 * @example unescapeText("it\\'s", "'") // it's
 */
export const unescapeText = (inner: string, quote: "'" | '"'): string => {
  if (!inner.includes('\\') && !inner.includes(quote)) return inner
  // Inside double quotes stand the strings of JSON literals, which have two escapes more.
  return inner.replace(/\\u([0-9a-fA-F]{4})|\\([\s\S])|''|""/g, (whole: string, hex: string | undefined, after: string | undefined) => {
    if (hex !== undefined) return quote === '"' ? String.fromCharCode(Number.parseInt(hex, 16)) : whole
    if (after !== undefined)
      return mysqlEscapes[after] ?? (quote === '"' && (after === '/' || after === 'f') ? { '/': '/', f: '\f' }[after] : whole)
    return whole === quote + quote ? quote : whole
  })
}

/** `quoteName('we"ird')` → `"we""ird"` */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** `quoteText("it's")` → `'it''s'`; DuckDB's plain strings take everything else as it is. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`
