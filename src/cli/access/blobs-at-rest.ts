import { openForReading, readSharedBatch } from '../../log/storage/schema.js'
import type { ErasedSince } from '../../log/storage/erased-blobs.js'
import { inOwnDirectory } from '../../basics/disk.js'
import type { BlobStore } from '../../files/blob-store.js'
import { Blobs } from '../../files/blobs.js'
import { erasedSince } from '../../files/shared/erased-since.js'
import { openSharedStore } from '../../files/shared/open-store.js'
import { bucketOf } from '../../files/shared/s3-address.js'
import type { Config } from '../../setup/config.js'
import type { DataPaths } from '../../setup/data-directory.js'

const followsShared = (logFile: string): boolean => {
  const db = openForReading(logFile)
  try {
    return readSharedBatch(db) !== undefined
  } finally {
    db.close()
  }
}

/** The reads of blobs in a command. */
export type ReadBlobs = Pick<BlobStore, 'has' | 'hold'>

/**
 * The blobs of a log for a command that only reads: those in the data directory, or with LOG_URL, if the log follows a shared one, those that
 * nodes share, and what finds the erasures of all nodes. A backup has its own blobs. The folder of a node is a cache: its server may remove a
 * file at any time. So the command uses a separate cache, and removes it at its end.
 *
 * @example await withBlobs(config, paths, (blobs) => blobs.has(sha))
 * @throws ConfigError when a bucket cannot be used; Problem storage_failed when the store cannot be reached
 */
export const withBlobs = async <T>(
  config: Pick<Config, 'logUrl' | 'blobsUrl' | 'blobKeys'>,
  paths: Pick<DataPaths, 'log' | 'blobs' | 'temporary'>,
  work: (blobs: ReadBlobs, erasedSince?: ErasedSince) => Promise<T>,
): Promise<T> => {
  const { logUrl: url } = config
  if (url === undefined || !followsShared(paths.log)) return work(new Blobs(paths.blobs))
  return inOwnDirectory(paths.temporary, 'blobs-', async (folder) => {
    const { blobs, connections, close } = await openSharedStore({ url, s3: bucketOf(config) }, { folder })
    try {
      return await work(blobs, erasedSince(connections))
    } finally {
      await close()
    }
  })
}
