import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

const readBytes = 1024 * 1024

/** The SHA-256 of a file's bytes in hexadecimal. */
export const hashFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) if (Buffer.isBuffer(chunk)) hash.update(chunk)
  return hash.digest('hex')
}

/** Brings a file's bytes, or a directory's names, to the disk. */
export const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
