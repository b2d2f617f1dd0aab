import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, open } from 'node:fs/promises'
import { sync } from '../basics/disk.js'

const chunkBytes = 1024 * 1024

/** Writes a new file and syncs it to the disk. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

export type FileDigest = { sha256: string; bytes: number }

/** Copies a file to a new one, syncs it to the disk, and returns the hash and size of the bytes that it read. */
export const copyDurably = async (from: string, to: string): Promise<FileDigest> => {
  const hash = createHash('sha256')
  let bytes = 0
  const target = await open(to, 'wx', 0o600)
  try {
    for await (const chunk of createReadStream(from, { highWaterMark: chunkBytes })) {
      if (!Buffer.isBuffer(chunk)) continue
      hash.update(chunk)
      bytes += chunk.length
      for (let at = 0; at < chunk.length;) at += (await target.write(chunk, at)).bytesWritten
    }
    await target.sync()
  } finally {
    await target.close()
  }
  return { sha256: hash.digest('hex'), bytes }
}

/** Links a file into a second directory of the same disk; false when that is not possible. */
export const linked = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    () => false,
  )

/** Syncs the names in directories to the disk. */
export const syncAll = async (...directories: string[]): Promise<void> => {
  for (const directory of directories) await sync(directory)
}
