import { writtenValues } from './as-objects.js'

/** A text in RFC 4180: in quotes if it needs them. A missing value has no quotes, but an empty text has. */
const quoted = (text: string): string => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A cell, from a value as JSON writes it. Numbers keep all digits, and lists and objects stay JSON. */
const cellOf = (value: string): string => {
  if (value === 'null') return ''
  return quoted(value.startsWith('"') ? (JSON.parse(value) as string) : value)
}

/**
 * Turns rows that arrive in pieces into CSV, as the service writes it.
 *
 * @example for await (const text of csvOf(['a'], pieces)) parts.push(text) // 'a\r\n', '1\r\n2\r\n'
 */
export async function* csvOf(names: readonly string[], pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield `${names.map(quoted).join(',')}\r\n`
  for await (const piece of pieces) {
    let text = ''
    for (const values of writtenValues(piece)) text += `${values.map(cellOf).join(',')}\r\n`
    yield text
  }
}
