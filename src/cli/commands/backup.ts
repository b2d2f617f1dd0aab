import { resolve } from 'node:path'
import { findFileSigner, olderFileHead, signedFileHead } from '../../audit/signed-file-head.js'
import { takeBackup } from '../../backup/backup.js'
import { readManifest } from '../../backup/manifest.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { checkDataDirectory } from '../../setup/data-directory.js'
import type { LogConnection } from '../../log/storage/schema.js'
import { withBlobs } from '../access/blobs-at-rest.js'
import type { Output } from '../terminal/output.js'

export type BackupOptions = { into: string; like: string | undefined }

/** Signed if the key is available: a backup without a signature is better than no backup. */
const headOf =
  ({ dataDirectory, headKey }: Config) =>
  (db: LogConnection): string => {
    try {
      return signedFileHead(db, findFileSigner(checkDataDirectory(dataDirectory), headKey, db))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return `${JSON.stringify(olderFileHead(db))}\n`
    }
  }

/** `mindledger backup --into <dir> [--like <earlier backup>]`: the log at one position with its blobs, with or without a running server. */
export const backup = async (config: Config, { into, like }: BackupOptions, out: Output): Promise<number> => {
  if (like !== undefined) readManifest(like)
  const from = checkDataDirectory(config.dataDirectory)
  const { position, blobs, master_keys } = await withBlobs(config, from, (store, erasedSince) =>
    takeBackup({
      ...{ from, store, erasedSince, into: resolve(into), headOf: headOf(config) },
      like: like === undefined ? undefined : resolve(like),
      onProgress: (text) => out.progress(text),
    }),
  )
  out.line(`${into} holds the log up to position ${position}, and ${blobs.length} blobs`)
  out.line(`Keys are not part of it. Its secrets and recorded rows need the master key ${master_keys.join(' and ')}.`)
  return 0
}
