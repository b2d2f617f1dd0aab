import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { applyErasures, readErasures, type LaterErasure } from '../../backup/later-erasures.js'
import { readManifest } from '../../backup/manifest.js'
import { restoreBackup } from '../../backup/restore.js'
import { readHeads } from '../../audit/kept-heads.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { Blobs } from '../../files/blobs.js'
import { dataPaths, type DataPaths } from '../../setup/data-directory.js'
import { Ledger } from '../../commands/ledger.js'
import { cliOrigin } from '../../log/contract/origins.js'
import { openForReading, readHeadKeys } from '../../log/storage/schema.js'
import { SqliteLog } from '../../log/sqlite/sqlite-log.js'
import { findMasterKeys } from '../../vault/key-files.js'
import { Vault, MasterKey } from '../../vault/vault.js'
import type { Output } from '../terminal/output.js'
import { verify } from './verify.js'

export type RestoreOptions = {
  backup: string
  into: string | undefined
  /** Files with heads that were kept elsewhere. */
  heads: readonly string[]
  vkey: string | undefined
  /** A file with the erasures that were recorded after the backup. */
  erasures: string | undefined
}

/** The erasures to repeat, and the keys for it. */
type Repeat = { erasures: readonly LaterErasure[]; vault: Vault }

/** @throws ConfigError when the file cannot be used, or there is no master key */
const repeatOf = async (file: string, [key, ...others]: readonly Buffer[]): Promise<Repeat> => {
  const erasures = await readErasures(file)
  if (key) return { erasures, vault: new Vault(key, ...others) }
  throw new ConfigError(
    'later erasures need the master key, to keep the rows of others in the same payloads: set VAULT_KEY, or put vault.key where the log is restored to.',
  )
}

const erase = async (staged: DataPaths, { erasures, vault }: Repeat, out: Output): Promise<void> => {
  const log = new SqliteLog({ file: staged.log, vault })
  try {
    const target = { ledger: new Ledger(log, vault), log, blobs: new Blobs(staged.blobs) }
    const applied = await applyErasures(target, erasures, cliOrigin, (line) => out.line(line))
    out.line(`erasures since: ${applied} of ${erasures.length} carried out`)
  } finally {
    await log.close()
  }
}

/** Says which master key the user must provide, because a backup has no keys. */
const keysNeeded = (needed: readonly string[], paths: DataPaths, keys: readonly Buffer[]): string[] => {
  if (needed.length === 0 || keys.some((key) => needed[0] === new MasterKey(key).id)) return []
  return [
    `Bring the master key ${needed[0]}: as ${paths.vaultKey}, or as VAULT_KEY. Without it the log is whole and can be verified, but the service does not start, and secrets and recorded rows cannot be read.`,
  ]
}

const headKeyNeeded = (paths: DataPaths, given: Buffer | undefined): string[] => {
  if (given || existsSync(paths.headKey)) return []
  const db = openForReading(paths.log)
  try {
    const [vkey] = readHeadKeys(db)
    if (vkey === undefined) return []
    return [`Bring the key that signs heads, ${vkey}: as ${paths.headKey}, or as HEAD_KEY. Without it the service does not start.`]
  } finally {
    db.close()
  }
}

/**
 * `mindledger restore <backup> [--into dir] [--head file]… [--erasures file]`: verifies a backup and makes a data directory from it.
 * Exit status 1 when the verification fails; then nothing is restored.
 */
export const restore = async (config: Config, { backup, into, heads, vkey, erasures }: RestoreOptions, out: Output): Promise<number> => {
  const paths = dataPaths(into === undefined ? config.dataDirectory : resolve(into))
  const keys = findMasterKeys(paths, config.masterKeys)
  const { position: upTo } = readManifest(resolve(backup))
  // What is wrong with the given files, or missing, is said before everything is copied.
  for (const file of heads) readHeads(file)
  const repeat = erasures === undefined ? undefined : await repeatOf(erasures, keys)
  const restored = await restoreBackup({
    backup: resolve(backup),
    into: paths.root,
    check: async (staged, head) => {
      // Every backup is complete in itself, even that of a shared log.
      const options = { heads: [head, ...heads], vkey, upTo, keysIn: paths }
      if ((await verify({ ...config, dataDirectory: staged.root, logUrl: undefined }, options, out)) !== 0) return false
      if (repeat) await erase(staged, repeat, out)
      return true
    },
    onProgress: (text) => out.progress(text),
  })
  if (!restored) {
    out.line('Nothing was restored.')
    return 1
  }
  out.line(`${paths.root} holds the log of ${restored.taken_at}, up to position ${restored.position}`)
  if (config.headFile)
    out.line(
      `Start it with a new HEAD_FILE: ${config.headFile.path} may have heads of later events than the backup, and so shows what is missing.`,
    )
  for (const line of [...keysNeeded(restored.master_keys, paths, keys), ...headKeyNeeded(paths, config.headKey)]) out.line(line)
  return 0
}
