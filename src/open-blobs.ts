import { limits } from './basics/limits.js'
import { opened } from './basics/undo.js'
import { removeErasedBlobs } from './erasure/unfinished.js'
import type { BlobStore } from './files/blob-store.js'
import { Blobs } from './files/blobs.js'
import type { SharedPlace } from './files/shared/open-store.js'
import { bucketOf } from './files/shared/s3-address.js'
import { removeUnnamedBlobs, watchNamedBlobs } from './files/unnamed-blobs.js'
import { SingletonTask } from './log/tasks/singleton-task.js'
import type { Leases } from './log/contract/leases.js'
import type { Log } from './log/contract/log.js'
import type { Logger } from './basics/logger.js'
import { ConfigError, type Config } from './setup/config.js'
import type { DataPaths } from './setup/data-directory.js'

/** A store that nodes share, and the log that determines which blobs are needed. */
export type SharedBlobOptions = SharedPlace & {
  /** Resolves when the local log has all events that any node acknowledged before. */
  newest: () => Promise<void>
  /** Only one node at a time tidies the store. */
  leases: Leases
  cacheMaxBytes?: number
}

/**
 * The store that the settings name for nodes with a shared log; undefined when this process has its own log.
 *
 * @example sharedStoreOf(config, { url: 'postgres://db/ledger', newest: () => log.newest(), leases })
 * @throws ConfigError that names the setting
 */
export const sharedStoreOf = (
  config: Pick<Config, 'blobsUrl' | 'blobKeys' | 'blobCacheMaxBytes'>,
  log: Pick<SharedBlobOptions, 'url' | 'newest' | 'leases'> | undefined,
): SharedBlobOptions | undefined => {
  const s3 = bucketOf(config)
  if (log) return { ...log, s3, cacheMaxBytes: config.blobCacheMaxBytes }
  if (s3) throw new ConfigError('BLOBS_URL: only nodes that share a log share a store of contents; without LOG_URL it stays unset')
  return undefined
}

type Options = { paths: Pick<DataPaths, 'blobs'>; log: Log; logger: Pick<Logger, 'info' | 'warn'>; shared: SharedBlobOptions | undefined }

/** Starts to remove unneeded blobs in the background. Returns a function that ends this. */
export type TidyBlobs = () => () => Promise<void>

type BlobParts = { blobs: BlobStore; tidyBlobs: TidyBlobs }

/** Work with blobs, and what the log of the process says of it. */
type BlobWork = { work: (signal: AbortSignal) => Promise<number>; done: string; failed: string }

const removal = { done: 'removed blobs that nobody needs', failed: 'blobs that nobody needs could not be removed' }
const gift = { done: 'gave back blobs that the shared store had lost', failed: 'blobs that the shared store lost could not be given back' }

/** Background work, once or at intervals, that logs the number of blobs. */
const background =
  ({ work, done, failed }: BlobWork, logger: Options['logger'], everyMs?: number): TidyBlobs =>
  () => {
    const stopping = new AbortController()
    const once = () =>
      work(stopping.signal).then(
        (blobs) => blobs > 0 && logger.info({ blobs }, done),
        (err: unknown) => !stopping.signal.aborted && logger.warn({ err }, failed),
      )
    let last: Promise<unknown> = once()
    const next = () => {
      last = last.then(once)
    }
    const timer = everyMs === undefined ? undefined : setInterval(next, everyMs).unref()
    return async () => {
      clearInterval(timer)
      stopping.abort()
      await last
    }
  }

/** The blobs of a single process: its folder has all of them. */
const openFolder = ({ paths, log, logger }: Options, undo: (step: () => unknown) => void): BlobParts => {
  const blobs = new Blobs(paths.blobs)
  undo(watchNamedBlobs(log, blobs))
  return { blobs, tidyBlobs: background({ work: (signal) => removeUnnamedBlobs(log, blobs, signal), ...removal }, logger) }
}

const openShared = async (
  { newest, leases, cacheMaxBytes, ...place }: SharedBlobOptions,
  { paths, log, logger }: Options,
  undo: (step: () => unknown) => void,
): Promise<BlobParts> => {
  // A folder of one process needs neither the drivers nor the time to load them.
  const [{ openSharedStore }, { forgetErased }, { collectBlobs }, { givingBack }] = await Promise.all([
    import('./files/shared/open-store.js'),
    import('./files/shared/forget-erased.js'),
    import('./files/shared/collect.js'),
    import('./files/shared/give-back.js'),
  ])
  const { blobs, register, cache, close } = await openSharedStore(place, { folder: paths.blobs, maxBytes: cacheMaxBytes })
  undo(close)
  undo(await forgetErased(log, blobs))
  /** Version of the log's own stream up to which erasures are finished. */
  let finished = 0
  /** Removes blobs that no event refers to, and erased blobs whose node ended before it removed them. */
  const tidy = async (signal: AbortSignal) => {
    await newest()
    const { removed, until } = await removeErasedBlobs(log, blobs, finished)
    finished = until
    return removed + (await collectBlobs({ log, newest, blobs, register }, signal))
  }
  const giveBack = givingBack({ log, newest, blobs, register, cache })
  const tidyBlobs = () => {
    const stopGiving = background({ work: giveBack, ...gift }, logger, limits.blobCollectMs)()
    const begin = background({ work: tidy, ...removal }, logger, limits.blobCollectMs)
    const task = new SingletonTask({ ...{ leases, name: 'blobs', begin }, onFailed: (err) => logger.warn({ err }, removal.failed) })
    void task.start()
    return async () => {
      await Promise.all([stopGiving(), task.stop()])
    }
  }
  return { blobs, tidyBlobs }
}

/**
 * Opens the blobs: the folder of a single process, or a store that nodes share, with the folder as its cache. When this resolves, the
 * folder has no blobs that were erased while this node was away.
 *
 * @example const { blobs, tidyBlobs, stop } = await openBlobs({ paths, log, logger, shared: undefined })
 * @throws ConfigError when a bucket cannot be used; Problem storage_failed when PostgreSQL cannot be reached
 */
export const openBlobs = (options: Options) =>
  opened((undo): BlobParts | Promise<BlobParts> => (options.shared ? openShared(options.shared, options, undo) : openFolder(options, undo)))
