import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isProblem, type Problem } from '../../../src/basics/errors.js'
import { openSharedStore, type SharedStore } from '../../../src/files/shared/open-store.js'
import type { S3Address } from '../../../src/files/shared/s3-address.js'
import type { LogServer } from '../log/each-log.js'
import { temporaryDirectory } from '../log/log.js'

/** Opens the store of a node, with its cache in a separate directory. */
export const openStore = (url: string, directory: string, s3?: S3Address, maxBytes = 2 ** 30): Promise<SharedStore> =>
  openSharedStore({ url, s3 }, { folder: join(directory, 'blobs'), maxBytes, keepFree: 0 })

export const shaOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** The problem of work that fails. */
export const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error: unknown = await work.then(
    () => new Error('it was accepted'),
    (caught: unknown) => caught,
  )
  if (isProblem(error)) return error
  throw error
}

export type Nodes = { a: SharedStore; b: SharedStore; directory: string; url: string; reopen: (maxBytes?: number) => Promise<SharedStore> }

/** Runs a test over the stores of two nodes. Their bytes are in a bucket if the test gives one. */
export const withStores = async (
  server: LogServer,
  s3: S3Address | undefined,
  run: (nodes: Nodes) => Promise<void>,
  cacheMaxBytes?: number,
): Promise<void> => {
  const { path, remove } = temporaryDirectory()
  const url = await server.newUrl()
  const open = (name: string, maxBytes = cacheMaxBytes) => openStore(url, join(path, name), s3, maxBytes)
  const opened: SharedStore[] = []
  try {
    const [a, b] = [await open('a'), await open('b')]
    opened.push(a, b)
    const reopen = async (maxBytes?: number) => {
      const again = await open('b', maxBytes)
      opened.push(again)
      return again
    }
    await run({ a, b, directory: path, url, reopen })
  } finally {
    for (const { close } of opened) await close()
    remove()
  }
}
