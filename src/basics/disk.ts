import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

const readBytes = 1024 * 1024

/** The SHA-256 of a file's bytes in hexadecimal. */
export const hashFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) if (Buffer.isBuffer(chunk)) hash.update(chunk)
  return hash.digest('hex')
}

/** Syncs a file's bytes, or a directory's names, to the disk. */
export const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Makes a temporary directory below another one, which is created if missing, runs with it, and removes it afterwards.
 *
 * @example await inOwnDirectory('data/tmp/uploads', 'upload-', (directory) => receive(join(directory, 'file')))
 */
export const inOwnDirectory = async <T>(parent: string, prefix: string, run: (directory: string) => Promise<T>): Promise<T> => {
  await mkdir(parent, { recursive: true })
  const directory = await mkdtemp(join(parent, prefix))
  try {
    return await run(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
