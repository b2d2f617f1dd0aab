import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import { ConfigError } from '../setup/config.js'
import { dataPaths } from '../setup/data-directory.js'
import { writeDurably } from './durable-files.js'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** The contents of a backup. It is written last: without it a directory is no backup. */
const manifestSchema = z.object({
  mindledger_backup: z.literal(1),
  /** The id of the log, and the last position in the backup. */
  log: z.string(),
  position: z.int().nonnegative(),
  taken_at: z.string(),
  /** The ids of the master keys that its payloads need. */
  master_keys: z.array(z.string()),
  files: z.array(z.object({ name: z.enum(['FORMAT', 'log.sqlite', 'head']), sha256, bytes: z.int().nonnegative() })),
  blobs: z.array(z.object({ sha256, bytes: z.int().nonnegative() })),
})
export type Manifest = z.infer<typeof manifestSchema>

/** Writes `manifest.json` into the directory of a backup, and syncs it to the disk. @throws Error when it already exists */
export const writeManifest = (directory: string, manifest: Manifest): Promise<void> =>
  writeDurably(dataPaths(directory).manifest, `${JSON.stringify(manifest, null, 1)}\n`)

/** @throws ConfigError when the directory is not a complete backup */
export const readManifest = (directory: string): Manifest => {
  const { manifest } = dataPaths(directory)
  if (!existsSync(manifest))
    throw new ConfigError(
      `${directory} is not a backup: it has no manifest.json. The name of an unfinished backup ends with .part; take another backup.`,
    )
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(manifest, 'utf8')))
  } catch {
    throw new ConfigError(`${manifest} is damaged, or a newer release wrote it. Restore from another backup.`)
  }
}
