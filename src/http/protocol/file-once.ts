import { open, rm, type FileHandle } from 'node:fs/promises'
import { stream, type Headers, type Reply } from './reply.js'

type Options = { headers?: Headers; ended?: () => void }

/** Unlinks an open file, and returns its size. */
const unlinkedSize = async (file: FileHandle, path: string): Promise<number> => {
  await rm(path)
  return (await file.stat()).size
}

/**
 * The answer that sends a file and removes it: the file is unlinked at once, so it disappears when it was read, or when its reader has
 * left. `ended` is called when the last byte was read, or when the reader has left; it may be called twice.
 *
 * @example await fileOnce('application/vnd.duckdb.file', path)
 */
export const fileOnce = async (type: string, path: string, { headers, ended }: Options = {}): Promise<Reply> => {
  const file = await open(path)
  const size = await unlinkedSize(file, path).catch(async (error: unknown) => {
    await file.close()
    throw error
  })
  const pieces = file.createReadStream()
  pieces.once('end', () => ended?.())
  const close = () => {
    pieces.destroy()
    ended?.()
  }
  return stream(type, { pieces, close }, { headers: { 'Content-Length': String(size), ...headers } })
}
