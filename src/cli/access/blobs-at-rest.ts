import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BlobStore } from '../../files/blob-store.js'
import { Blobs } from '../../files/blobs.js'
import { openSharedStore } from '../../files/shared/open-store.js'
import { readS3 } from '../../files/shared/s3-address.js'
import type { Config } from '../../setup/config.js'
import { makeDirectory, type DataPaths } from '../../setup/data-directory.js'

/** What a command reads of blobs. */
export type ReadBlobs = Pick<BlobStore, 'has' | 'hold'>

/**
 * The blobs of a log for a command that only reads: those in the data directory, or with LOG_URL those that nodes share. The folder of a
 * node is a cache, from which its server may remove a file at any time; the command has one of its own, which goes with it.
 *
 * @example await withBlobs(config, paths, (blobs) => blobs.has(sha))
 * @throws ConfigError when a bucket cannot be used; Problem storage_failed when the store cannot be reached
 */
export const withBlobs = async <T>(
  { logUrl, blobsUrl, blobKeys }: Pick<Config, 'logUrl' | 'blobsUrl' | 'blobKeys'>,
  paths: Pick<DataPaths, 'blobs' | 'temporary'>,
  work: (blobs: ReadBlobs) => Promise<T>,
): Promise<T> => {
  if (logUrl === undefined) return work(new Blobs(paths.blobs))
  makeDirectory(paths.temporary)
  const folder = mkdtempSync(join(paths.temporary, 'blobs-'))
  try {
    const s3 = blobsUrl === undefined ? undefined : readS3(blobsUrl, blobKeys)
    const { blobs, close } = await openSharedStore({ url: logUrl, s3 }, { folder })
    try {
      return await work(blobs)
    } finally {
      await close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
