/** One field of a protobuf message: its number and its content. */
export type Field = readonly [number, bigint | string | Uint8Array | Float32Array | readonly number[] | Message]
export type Message = { fields: readonly Field[] }

const varint = (value: bigint): number[] => {
  const bytes: number[] = []
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)]
    bytes.push(Number(rest & 127n) | 128)
  }
}

const tag = (field: number, wire: number) => varint(BigInt(field * 8 + wire))

const block = (field: number, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from([...tag(field, 2), ...varint(BigInt(bytes.length))]), bytes])

const encodeField = ([field, value]: Field): Uint8Array => {
  if (typeof value === 'bigint') return Buffer.from([...tag(field, 0), ...varint(value)])
  if (typeof value === 'string') return block(field, Buffer.from(value))
  if (value instanceof Float32Array) return block(field, Buffer.from(value.slice().buffer))
  if (value instanceof Uint8Array) return block(field, value)
  if ('fields' in value) return block(field, encode(value))
  return block(field, Buffer.from(value.flatMap((each) => varint(BigInt(each)))))
}

/**
 * The bytes of a message. Whole numbers are BigInts; lists of numbers are packed.
 *
 * @example encode(message([1, 'name'], [2, 3n]))
 */
export const encode = ({ fields }: Message): Uint8Array => Buffer.concat(fields.map(encodeField))

export const message = (...fields: readonly Field[]): Message => ({ fields })
