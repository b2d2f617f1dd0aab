import { createReadStream } from 'node:fs'

/** The check cannot continue after a line, and the rest would tell nothing. Exit status 1. */
export class MalformedInputError extends Error {}

/** Whether a value is a whole number from 0 that a double holds exactly. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The members of a JSON object; none for any other value. */
export const fieldsOf = (value: unknown): Record<string, unknown> => {
  try {
    const read: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? { ...read } : {}
  } catch {
    return {}
  }
}

const lineMaxBytes = 64 * 1024 * 1024

/** The lines of a file as bytes, in constant memory. Only a newline ends a line: text readers would also split at other characters. */
export async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      yield bytes.subarray(from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
    if (rest.length > lineMaxBytes) throw new MalformedInputError(`a line has more than ${lineMaxBytes} bytes: this is no export`)
  }
  if (rest.length > 0) throw new MalformedInputError('the last line does not end: the file was cut off')
}
