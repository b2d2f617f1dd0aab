import { resolve } from 'node:path'
import { readS3 } from '../files/shared/s3-address.js'
import { ConfigError, type S3Keys } from '../setup/config.js'
import { BucketStore } from './bucket-store.js'
import { FolderStore } from './folder-store.js'
import type { ArchiveStore } from './store.js'

/** Whether the place of an export is an address of a bucket. */
const isBucket = (place: string): boolean => place.startsWith('s3://')

/** DuckDB reads a path with one of these signs as a pattern, and finds other files. */
const refusePattern = (folder: string): void => {
  const [sign] = /[*?[]/.exec(folder) ?? []
  if (sign !== undefined)
    throw new ConfigError(`${folder} cannot be used for Parquet files: its path has a "${sign}". Rename the folder, or name another one.`)
}

/**
 * The export in a folder, or in a bucket: `s3://bucket/prefix?endpoint=https://host:port&region=name`.
 *
 * @param name the setting or option that named the place, for errors: `EXPORT_URL`, `--parquet`
 * @param folder where files for a bucket are made; by default a temporary folder
 * @throws ConfigError when the path is a pattern, the address is not valid, or its keys are missing
 * @example openArchive('--parquet', '/mnt/history', undefined)
 */
export const openArchive = (name: string, place: string, keys: S3Keys | undefined, folder?: string): ArchiveStore => {
  if (isBucket(place)) return new BucketStore(readS3(name, place, keys), folder)
  const path = resolve(place)
  refusePattern(path)
  return new FolderStore(path)
}
