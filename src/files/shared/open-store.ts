import { limits } from '../../basics/limits.js'
import { opened } from '../../basics/undo.js'
import { BlobCache } from './blob-cache.js'
import { openBlobTables } from './blob-tables.js'
import { BlobConnections } from './blob-connections.js'
import { PostgresObjects } from './postgres-objects.js'
import { Register } from './register.js'
import type { S3Address } from './s3-address.js'
import { S3Objects } from './s3-objects.js'
import { SharedBlobs } from './shared-blobs.js'

/**
 * The place where nodes share blobs: the PostgreSQL of their log, `postgres://user:password@host/database`, and a bucket when there is one.
 */
export type SharedPlace = { url: string; s3: S3Address | undefined }

/** The cache folder of this node, its size limit, and the bytes of the disk that it leaves free. */
export type CacheFolder = { folder: string; maxBytes?: number | undefined; keepFree?: number }

/** The store of this node. */
export type SharedStore = {
  blobs: SharedBlobs
  register: Register
  cache: BlobCache
  connections: BlobConnections
  close: () => Promise<void>
}

/**
 * Opens the store that nodes share.
 *
 * @example const { blobs, close } = await openSharedStore({ url: 'postgres://db/ledger', s3: undefined }, { folder: '/data/blobs' })
 * @throws ConfigError when a bucket cannot be used; Problem storage_failed when PostgreSQL cannot be reached
 */
export const openSharedStore = async (
  { url, s3 }: SharedPlace,
  { folder, maxBytes = limits.blobCacheMaxBytes, keepFree = limits.blobCacheFreeMinBytes }: CacheFolder,
): Promise<SharedStore> => {
  const { stop, ...store } = await opened(async (undo) => {
    const connections = new BlobConnections(url)
    undo(() => connections.close())
    await openBlobTables(connections)
    const inBucket = s3 && (await S3Objects.open(s3))
    undo(() => inBucket?.close())
    const cache = await BlobCache.open(folder, { maxBytes, keepFree })
    // The log or other programs may fill the disk while nobody reads a blob.
    const looking = setInterval(() => cache.shrink(), limits.blobCacheLookMs).unref()
    undo(() => clearInterval(looking))
    const register = new Register(connections)
    const inPostgres = new PostgresObjects(connections)
    // Bytes that were stored before there was a bucket stay where they are.
    const blobs = new SharedBlobs({ register, cache, places: inBucket ? [inBucket, inPostgres] : [inPostgres] })
    return { blobs, register, cache, connections }
  })
  return { ...store, close: stop }
}
