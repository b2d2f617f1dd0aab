import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { badFile } from '../tables/bad-rows.js'

/** A file's encoding, and the length of its byte order mark. */
export type Encoding = { name: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'; bomBytes: number }

export const chunkBytes = 4 * 1024 * 1024

/** A file's bytes from `start`, in chunks. */
const readChunks = async function* (path: string, start = 0): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path, { start, highWaterMark: chunkBytes })) {
    if (Buffer.isBuffer(chunk)) yield chunk
  }
}

const byteOrderMark = (bytes: Buffer): Encoding | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { name: 'utf-8', bomBytes: 3 }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { name: 'utf-16le', bomBytes: 2 }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { name: 'utf-16be', bomBytes: 2 }
  return undefined
}

/** Where the last complete character certainly ends: a UTF-8 character has at most three bytes after its first. */
const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    if ((bytes.readUInt8(bytes.length - back) & 0xc0) !== 0x80) return bytes.length - back
  }
  return bytes.length
}

type Utf8Check = { valid: boolean; wellFormed: number; illFormed: number }

/** Counts the non-ASCII characters that are well-formed UTF-8, and those that are not; only called once one is not. */
const countCharacters = async (path: string): Promise<Utf8Check> => {
  const decoder = new TextDecoder('utf-8')
  const check: Utf8Check = { valid: false, wellFormed: 0, illFormed: 0 }
  for await (const chunk of readChunks(path)) {
    const text = decoder.decode(chunk, { stream: true })
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0xfffd) check.illFormed += 1
      else if (code > 0x7f) check.wellFormed += 1
    }
  }
  return check
}

const checkUtf8 = async (path: string): Promise<Utf8Check> => {
  let rest = Buffer.alloc(0)
  for await (const chunk of readChunks(path)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = wholeCharacters(bytes)
    if (!isUtf8(bytes.subarray(0, end))) return countCharacters(path)
    rest = Buffer.from(bytes.subarray(end))
  }
  return isUtf8(rest) ? { valid: true, wellFormed: 0, illFormed: 0 } : countCharacters(path)
}

/**
 * Detects a file's encoding from its byte order mark and from all of its bytes. A file without a mark that isn't valid UTF-8 is
 * Windows-1252, unless most of its special characters are well-formed UTF-8: then it is damaged UTF-8, and another encoding would spoil all
 * of them.
 *
 * @example await detectEncoding('/data/umsatz.csv') // { name: 'windows-1252', bomBytes: 0 }
 */
export const detectEncoding = async (path: string): Promise<Encoding> => {
  const head = await readHead(path, 4)
  if (head.length === 0) throw badFile('The file is empty.')
  const mark = byteOrderMark(head)
  if (mark !== undefined && mark.name !== 'utf-8') return mark
  const check = await checkUtf8(path)
  if (check.valid) return { name: 'utf-8', bomBytes: mark?.bomBytes ?? 0 }
  if (mark !== undefined || check.wellFormed > check.illFormed) {
    throw badFile(`The text is not well-formed: it looks like UTF-8, and ${check.illFormed} of its bytes or sequences are not.`)
  }
  return { name: 'windows-1252', bomBytes: 0 }
}

/** The first bytes of a file, at most `length`. */
export const readHead = async (path: string, length: number): Promise<Buffer> => {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

// Windows-1252 from 0x80 to 0x9f. TextDecoder is not used: some releases of Node decode the label as ISO-8859-1.
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

const decodeWindows1252 = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => {
    const decoded = windows1252.charAt(character.charCodeAt(0) - 0x80)
    if (decoded === character) throw badFile('The text is neither well-formed UTF-8 nor Windows-1252.')
    return decoded
  })

const decodeUtf16 = (decoder: TextDecoder, bytes?: Buffer): string => {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch {
    throw badFile('The text is not well-formed UTF-16.')
  }
}

/**
 * A file's text as UTF-8, in chunks that may end within a character, without byte order mark.
 *
 * @example for await (const bytes of readUtf8('/data/a.csv', { name: 'utf-8', bomBytes: 0 })) size += bytes.length
 */
export const readUtf8 = async function* (path: string, { name, bomBytes }: Encoding): AsyncGenerator<Buffer> {
  if (name === 'utf-8') {
    yield* readChunks(path, bomBytes)
    return
  }
  const decoder = name === 'windows-1252' ? undefined : new TextDecoder(name, { fatal: true })
  for await (const chunk of readChunks(path, bomBytes)) {
    yield Buffer.from(decoder === undefined ? decodeWindows1252(chunk) : decodeUtf16(decoder, chunk))
  }
  if (decoder !== undefined) yield Buffer.from(decodeUtf16(decoder))
}
