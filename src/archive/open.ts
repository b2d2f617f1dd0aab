import { resolve } from 'node:path'
import { readS3 } from '../files/shared/s3-address.js'
import type { S3Keys } from '../setup/config.js'
import { BucketStore } from './bucket-store.js'
import { FolderStore } from './folder-store.js'
import type { ArchiveStore } from './store.js'

/** Whether the place of an export is an address of a bucket. */
const isBucket = (place: string): boolean => place.startsWith('s3://')

/**
 * The export in a folder, or in a bucket: `s3://bucket/prefix?endpoint=https://host:port&region=name`.
 *
 * @param name the setting or option that named the place, for errors: `EXPORT_URL`, `--parquet`
 * @param folder where files for a bucket are made; by default a temporary folder
 * @throws ConfigError when the address is not valid, or its keys are missing
 * @example openArchive('--parquet', '/mnt/history', undefined)
 */
export const openArchive = (name: string, place: string, keys: S3Keys | undefined, folder?: string): ArchiveStore =>
  isBucket(place) ? new BucketStore(readS3(name, place, keys), folder) : new FolderStore(resolve(place))
