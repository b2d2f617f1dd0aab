import { ConfigError, type Config } from '../../setup/config.js'
import type { DataPaths } from '../../setup/data-directory.js'
import { masterKeyIds, readPreviousKey } from '../../log/storage/keys.js'
import { openForReading } from '../../log/storage/schema.js'
import { findMasterKeys } from '../../vault/key-files.js'
import { KeyRing, MasterKey } from '../../vault/vault.js'

/**
 * The id of the master key that seals a log: the new one during a rotation, undefined if the log never had one. Also the previous key,
 * which the log keeps during a rotation, wrapped under the new one.
 */
const keysOf = (logFile: string, keys: readonly Buffer[]): { needed: string | undefined; previous: Buffer[] } => {
  const db = openForReading(logFile)
  try {
    const ring = new KeyRing(keys)
    const previous = readPreviousKey(db, ({ keyId, wrapped }, bound) => ring.get(keyId)?.unwrap(wrapped, bound))
    return { needed: masterKeyIds(db)[0], previous: previous ? [previous] : [] }
  } finally {
    db.close()
  }
}

const idOf = (key: Buffer): string => new MasterKey(key).id

/**
 * The available master keys for reading a log: the right ones or none. With a wrong key, all sealed data would look damaged, or be missing
 * without a message.
 *
 * @param logFile the log, if it is in another directory than the key files
 * @example verifyLog({ logFile: paths.log, masterKeys: ownMasterKeys(config, paths), blobHash })
 * @throws ConfigError when there are keys, but not the log's
 */
export const ownMasterKeys = ({ masterKeys }: Pick<Config, 'masterKeys'>, paths: DataPaths, logFile = paths.log): Buffer[] => {
  // A concurrent rotation may change both between the two reads, so a mismatch is checked twice.
  for (let looks = 1; ; looks++) {
    const keys = findMasterKeys(paths, masterKeys)
    const { needed, previous } = keysOf(logFile, keys)
    if (needed === undefined || keys.length === 0 || keys.some((key) => idOf(key) === needed)) return [...keys, ...previous]
    if (looks === 1) continue
    throw new ConfigError(
      masterKeys.length > 0
        ? `the log is sealed with the master key ${needed}, and VAULT_KEY is another one. Set it to the log's own, or unset it.`
        : `the log is sealed with the master key ${needed}, and ${paths.vaultKey} holds another one. Put the log's own there, or set VAULT_KEY to it.`,
    )
  }
}
