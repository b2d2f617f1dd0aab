import { join } from 'node:path'
import { openSharedStore, type SharedStore } from '../../../src/files/shared/open-store.js'
import type { S3Address } from '../../../src/files/shared/s3-address.js'

/** Opens the store of a node, whose cache is in a directory of its own. */
export const openStore = (url: string, directory: string, s3?: S3Address, maxBytes = 2 ** 30): Promise<SharedStore> =>
  openSharedStore({ url, s3 }, { folder: join(directory, 'blobs'), maxBytes })
