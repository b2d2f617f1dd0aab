import { Problem } from '../../../basics/errors.js'

/**
 * One field of a protobuf message: a varint's low 32 bits in `value`, the content of a length-delimited field in `bytes`. `start` and `end`
 * are the offsets of the whole field in its message.
 */
export type Field = { number: number; value: number; bytes: Uint8Array; start: number; end: number }

const none = new Uint8Array(0)
const longestVarint = 10

/** The refusal of bytes that are not an ONNX model. */
export const broken = (reason: string): Problem =>
  new Problem('bad_file', 'Not an ONNX model', `The file cannot be read as an ONNX model: ${reason}`, {
    hint: 'Export the model again and upload the whole file.',
  })

/** The refusal of a number that is longer than 64 bits. */
export const endless = (): Problem => broken('it holds a number that never ends')

/** The end of a varint, and its low 32 bits. Lengths and field numbers need no more bits, and other values are only compared. */
const readVarint = (bytes: Uint8Array, at: number): { value: number; end: number } => {
  let value = 0
  for (let i = 0; i < longestVarint; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) throw broken('it ends in the middle of a number')
    if (i < 5) value = (value | ((byte & 0x7f) << (7 * i))) >>> 0
    if (byte < 0x80) return { value, end: at + i + 1 }
  }
  throw endless()
}

const skip = (bytes: Uint8Array, at: number, size: number): number => {
  if (at + size > bytes.length) throw broken('it is cut off')
  return at + size
}

/**
 * The fields of a protobuf message, in order. Nothing is copied.
 *
 * @throws Problem bad_file for bytes that are not a message
 * @example for (const { number, bytes } of fieldsIn(model)) if (number === 7) readGraph(bytes)
 */
export function* fieldsIn(bytes: Uint8Array): Generator<Field> {
  let at = 0
  while (at < bytes.length) {
    const start = at
    const tag = readVarint(bytes, at)
    const [number, wire] = [tag.value >>> 3, tag.value & 7]
    if (number === 0) throw broken('it holds a field without a number')
    at = tag.end
    let value = 0
    let content: Uint8Array = none
    if (wire === 0) ({ value, end: at } = readVarint(bytes, at))
    else if (wire === 1) at = skip(bytes, at, 8)
    else if (wire === 5) at = skip(bytes, at, 4)
    else if (wire === 2) {
      const length = readVarint(bytes, at)
      at = skip(bytes, length.end, length.value)
      content = bytes.subarray(length.end, at)
    } else throw broken(`it holds a field of an unknown form (${wire})`)
    yield { number, value, bytes: content, start, end: at }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a field. @throws Problem bad_file when the bytes are not UTF-8 */
export const textOf = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw broken('a name in it is not UTF-8')
  }
}

/** The name of a message: most have it in the first field. */
export const nameIn = (message: Uint8Array): string => {
  for (const { number, bytes } of fieldsIn(message)) if (number === 1) return textOf(bytes)
  return ''
}

const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)])

/** Encodes a length-delimited field. */
export const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(content.length)]), content])

/** Encodes a field that holds a small number. */
export const numberField = (number: number, value: number): Buffer => Buffer.from([...varint(number << 3), ...varint(value)])
