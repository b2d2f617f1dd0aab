/** Room: commands for a log that nodes share. It imports only setup, vault, log/shared, files/shared, migration and cli/terminal. */

import { resolve } from 'node:path'
import type { SharedPlace } from '../../../files/shared/open-store.js'
import { bucketOf } from '../../../files/shared/s3-address.js'
import { toDirectory } from '../../../migration/to-directory.js'
import { toPostgres, type MigrationResult } from '../../../migration/to-postgres.js'
import { ConfigError, type Config } from '../../../setup/config.js'
import { checkDataDirectory, lockDataDirectory, prepareDataDirectory } from '../../../setup/data-directory.js'
import { isPostgresUrl, postgresUrlRule } from '../../../setup/postgres-url.js'
import { findMasterKeys } from '../../../vault/key-files.js'
import { Vault } from '../../../vault/vault.js'
import type { Output } from '../../terminal/output.js'

/**
 * `from` is the PostgreSQL whose log becomes a directory; with `copy` it also goes on there. With `lost`, the directory may be that of a
 * node whose PostgreSQL does not exist any more.
 */
export type MigrateOptions = { to: string; from: string | undefined; copy: boolean; lost: boolean }

/** Whether a place is the address of a PostgreSQL, not a directory. @example isPostgres('postgres://db/mindledger') // true */
export const isPostgres = (place: string): boolean => /^postgres(?:ql)?:\/\//.test(place)

const tell = (where: string, { position, blobs, missing }: MigrationResult, out: Output): number => {
  out.line(`${where} has the log up to position ${position}, and ${blobs} blobs`)
  for (const hash of missing) out.line(`blob ${hash} is missing or damaged here, and was not moved`)
  return missing.length === 0 ? 0 : 1
}

/**
 * `mindledger migrate --to postgres://…`: the data directory becomes the directory of a node. `mindledger migrate --from postgres://… --to
 * <dir>`: the log that nodes share becomes a data directory. Exit status 1 when blobs are missing.
 */
export const migrate = async (config: Config, { to, from, copy, lost }: MigrateOptions, out: Output): Promise<number> => {
  const url = from ?? to
  if (!isPostgresUrl(url)) throw new ConfigError(`${from === undefined ? '--to' : '--from'}: ${postgresUrlRule}`)
  const placeOf = (url: string): SharedPlace => ({ url, s3: bucketOf(config) })
  const onProgress = (text: string) => out.progress(text)
  const paths = from === undefined ? checkDataDirectory(config.dataDirectory) : prepareDataDirectory(resolve(to))
  const unlock = lockDataDirectory(paths)
  try {
    if (from === undefined) return tell('PostgreSQL', await toPostgres({ paths, to: placeOf(to), lost, onProgress }), out)
    const [key, ...others] = findMasterKeys(paths, config.masterKeys)
    if (!key) throw new ConfigError(`bring the master key of the log: as VAULT_KEY, or as ${paths.vaultKey}`)
    const vault = new Vault(key, ...others)
    return tell(paths.root, await toDirectory({ from: placeOf(from), paths, vault, copy, onProgress }), out)
  } finally {
    unlock()
  }
}
