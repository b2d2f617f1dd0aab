import type { TextBytes } from './text-bytes.js'

const quote = 0x22
const backslash = 0x5c
const space = 0x20
const comma = 0x2c
const newline = 0x0a
const carriageReturn = 0x0d

/** The way in which one format of an answer writes values that are not numbers. */
export type Style = {
  nothing: string
  /** The text before and after texts that need no escapes, such as dates. */
  mark: string
  /** Writes a text in UTF-8. */
  text: (out: TextBytes, bytes: Uint8Array, from: number, to: number) => void
}

/** The escapes of characters that JSON cannot hold unescaped, by byte. */
const isSpecial = Uint8Array.from({ length: 256 }, (_, byte) => (byte < space || byte === quote || byte === backslash ? 1 : 0))

const escapes = Array.from({ length: space }, (_, code) => JSON.stringify(String.fromCharCode(code)).slice(1, -1))

const escapeOf = (byte: number): string => (byte === quote ? '\\"' : byte === backslash ? '\\\\' : (escapes[byte] ?? ''))

export const jsonStyle: Style = {
  nothing: 'null',
  mark: '"',
  text: (out, bytes, from, to) => {
    out.byte(quote)
    for (let plainFrom = from; ;) {
      const special = out.until(isSpecial, bytes, plainFrom, to)
      if (special === to) break
      out.ascii(escapeOf(bytes[special] ?? 0))
      plainFrom = special + 1
    }
    out.byte(quote)
  },
}

const needsQuotes = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]
    if (byte === quote || byte === comma || byte === newline || byte === carriageReturn) return true
  }
  // A missing value has no quotes, but an empty text has quotes.
  return from === to
}

/** RFC 4180: a text is in quotes if it needs them, and a quote inside is doubled. */
export const csvStyle: Style = {
  nothing: '',
  mark: '',
  text: (out, bytes, from, to) => {
    if (!needsQuotes(bytes, from, to)) {
      out.bytes(bytes, from, to)
      return
    }
    out.byte(quote)
    for (let i = from; i < to; i++) {
      if (bytes[i] === quote) out.byte(quote)
      out.byte(bytes[i] ?? 0)
    }
    out.byte(quote)
  },
}
