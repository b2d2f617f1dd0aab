import { resolve } from 'node:path'
import { findHeadSigner } from '../audit/head-key.js'
import { signHead } from '../audit/heads.js'
import { takeBackup } from '../backup/backup.js'
import { readManifest } from '../backup/manifest.js'
import { ConfigError, type Config } from '../config.js'
import { checkDataDirectory } from '../log/data-directory.js'
import { readHeadKeys, readLogId, type Connection } from '../log/sqlite/schema.js'
import { readTail } from '../log/sqlite/tail.js'
import { readTree } from '../log/tree/open-tree.js'
import type { Output } from './output.js'

export type BackupOptions = { into: string; like: string | undefined }

/** Signed, unless the key is not at hand: a backup is better without a signature than not taken. */
const headOf =
  (config: Config) =>
  (db: Connection): string => {
    const { position, chain } = readTail(db)
    try {
      const log = { id: readLogId(db), headKeys: () => readHeadKeys(db) }
      const signer = findHeadSigner(checkDataDirectory(config.dataDirectory), config.headKey, log)
      return signHead(signer, position, readTree(db, position).rootAt(position))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return `${JSON.stringify({ logId: readLogId(db), position, chain: chain.toString('hex') })}\n`
    }
  }

/** `mindledger backup --into <dir> [--like <earlier backup>]`: the log at one position with its blobs, beside a running server or without one. */
export const backup = async (config: Config, { into, like }: BackupOptions, out: Output): Promise<number> => {
  if (like !== undefined) readManifest(like)
  const { position, blobs, master_keys } = await takeBackup({
    from: checkDataDirectory(config.dataDirectory),
    into: resolve(into),
    like: like === undefined ? undefined : resolve(like),
    headOf: headOf(config),
    onProgress: (text) => out.progress(text),
  })
  out.line(`${into} holds the log up to position ${position}, and ${blobs.length} blobs`)
  out.line(`Keys are not part of it. Its secrets and recorded rows need the master key ${master_keys.join(' and ')}.`)
  return 0
}
