import { limits } from '../../basics/limits.js'

/** What a JSON text has, counted without parsing it: of a text that is no JSON it may be anything. */
export type Counts = { values: number; depth: number; keys: number }

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The place of the quote that ends the text which begins here; the end of the bytes when none does. */
const endOfText = (bytes: Uint8Array, open: number): number => {
  let at = open + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/**
 * Counts what a JSON text has: its values, how deep they are nested, and the keys of the object that has most. It reads each byte
 * once, and takes a fraction of the time of parsing.
 *
 * @example countJson(Buffer.from('{"a":[1,2]}')) // { values: 4, depth: 2, keys: 1 }
 */
export const countJson = (bytes: Uint8Array): Counts => {
  const counts = { values: 1, depth: 0, keys: 0 }
  /** The keys so far of each object that is open; there are no more of them than levels. */
  const keys = new Uint32Array(limits.bodyMaxDepth + 2)
  let depth = 0
  // Deeper than this nothing is parsed, and nothing needs to be counted.
  for (let at = 0; at < bytes.length && counts.depth <= limits.bodyMaxDepth; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === comma) counts.values++
    else if (byte === colon) {
      const here = (keys[depth] = (keys[depth] ?? 0) + 1)
      if (here > counts.keys) counts.keys = here
    } else if (byte === openBracket || byte === openBrace) {
      counts.values++
      depth++
      keys[depth] = 0
      if (depth > counts.depth) counts.depth = depth
    } else if ((byte === closeBracket || byte === closeBrace) && depth > 0) depth--
  }
  return counts
}

/**
 * Where the value ends that begins here: at the comma or the bracket behind it.
 *
 * @example endOfValue(Buffer.from('[1, [2, 3], 4]'), 4) // 10
 */
export const endOfValue = (bytes: Uint8Array, start: number): number => {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === openBracket || byte === openBrace) depth++
    else if (byte === closeBracket || byte === closeBrace) {
      if (depth === 0) return at
      depth--
    } else if (byte === comma && depth === 0) return at
  }
  return bytes.length
}
