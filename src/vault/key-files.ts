import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { errorCode } from '../basics/errors.js'
import { ConfigError } from '../setup/config.js'
import { sync, writeWhole } from '../basics/disk.js'
import type { DataPaths } from '../setup/data-directory.js'
import { MasterKey, masterKeyBytes } from './vault.js'

/** The text of a file; undefined without one. A rotation may remove the file between a look and the reading, so there is no look. */
const textOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined
    throw error
  }
}

const readKey = (file: string): Buffer[] => {
  const text = textOf(file)
  if (text === undefined) return []
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length === masterKeyBytes) return [key]
  throw new ConfigError(`${file} does not hold a key of ${masterKeyBytes * 2} hex digits. Restore it from where you keep keys.`)
}

/** A truncated key file would mean a lost key. */
const writeKey = (file: string, key: Buffer): void => writeWhole(file, `${key.toString('hex')}\n`)

/**
 * The known master keys: the given ones, or those in the files. During a rotation there are two files. The later one is read first, because
 * it replaces the other one in a single step.
 */
export const findMasterKeys = (paths: DataPaths, given: readonly Buffer[] = []): Buffer[] =>
  given.length > 0 ? [...given] : [...readKey(paths.nextVaultKey), ...readKey(paths.vaultKey)]

/**
 * The master keys of a server: the known ones, or a new key for a new log, which is stored in a file.
 * @throws ConfigError when the key is lost
 */
export const masterKeys = (paths: DataPaths, given: readonly Buffer[] = []): [Buffer, ...Buffer[]] => {
  const [found, ...others] = findMasterKeys(paths, given)
  if (found) return [found, ...others]
  if (existsSync(paths.log))
    throw new ConfigError(
      `the master key is lost: ${paths.vaultKey} is missing and VAULT_KEY is not set. Put the key back; without it the log stays whole, but secrets and recorded rows cannot be read.`,
    )
  const key = randomBytes(masterKeyBytes)
  writeKey(paths.vaultKey, key)
  return [key]
}

/** Stores the next key beside the one in use, before anything is wrapped under it. */
export const keepNextKey = async (paths: DataPaths, key: Buffer): Promise<void> => {
  writeKey(paths.nextVaultKey, key)
  await sync(paths.root)
}

/** Makes the files state the key in use when no rotation is running: the next key replaces the old one, or is removed as unused. */
export const settleKeyFiles = async (paths: DataPaths, keyId: string): Promise<void> => {
  const [next] = readKey(paths.nextVaultKey)
  if (!next) return
  if (new MasterKey(next).id === keyId) renameSync(paths.nextVaultKey, paths.vaultKey)
  else rmSync(paths.nextVaultKey)
  await sync(paths.root)
}
