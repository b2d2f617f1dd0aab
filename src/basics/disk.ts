import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from './errors.js'

const readBytes = 1024 * 1024

/** The bytes that a user without privileges can still write to the disk of a directory. */
export const freeBytes = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** The SHA-256 of a file's bytes in hexadecimal. */
export const hashFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) if (Buffer.isBuffer(chunk)) hash.update(chunk)
  return hash.digest('hex')
}

/** Whether a file exists, can be read, and has the bytes of this hash. */
export const hasHash = (path: string, sha: string): Promise<boolean> =>
  hashFile(path).then(
    (hash) => hash === sha,
    () => false,
  )

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
 * Writes a small file for its owner alone. Its name has the whole text or does not exist, even after a kill or a power cut. The name itself
 * is durable after the next sync of its directory.
 *
 * @example writeWhole('data/node.id', `${randomUUID()}\n`)
 */
export const writeWhole = (path: string, text: string): void => {
  // Two servers may begin in one directory at once. A later process with this number replaces what a kill left.
  const part = `${path}.${process.pid}.part`
  rmSync(part, { force: true })
  writeFileSync(part, text, { mode: 0o600, flag: 'wx', flush: true })
  renameSync(part, path)
}

/** A path in a directory for a file that is not complete yet. */
export const partialFileIn = (directory: string): string => join(directory, `.${randomUUID()}.part`)

/**
 * Moves a file to another name, even from another disk. The bytes are synced first: after a power cut the name has all of them or does not
 * exist. The name itself is durable after the next sync of its directory. No other code runs between `check` and the name, and the file
 * gets no name if `check` throws.
 *
 * @throws the error of the file system or of the check; then the file is still in its old place
 * @example await moveFile('uploads/file', 'data/blobs/9f86d0…')
 */
export const moveFile = async (from: string, to: string, check: () => void = () => undefined): Promise<void> => {
  await sync(from)
  try {
    check()
    renameSync(from, to)
    return
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
  }
  const near = partialFileIn(dirname(to))
  try {
    await copyFile(from, near)
    await sync(near)
    check()
    renameSync(near, to)
  } finally {
    await rm(near, { force: true })
  }
  await rm(from)
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
