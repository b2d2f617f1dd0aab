import { lstatSync, readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { sha256Hex } from '../../events/stored/chain.js'
import { readNote, judge } from '../audit/note.js'
import type { NoteSigner, NoteVerifier } from '../audit/note-key.js'
import { writeDurably } from '../backup/durable-files.js'
import { sync } from '../basics/disk.js'
import { limits } from '../basics/limits.js'
import { ConfigError } from '../setup/config.js'
import { archiveTables } from './tables.js'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const position = z.int().positive()
const count = z.int().nonnegative()

const bodySchema = z.object({
  mindledger_parquet: z.literal(1),
  log: z.string().min(1),
  /** How many positions each range has; the last one may have fewer. */
  range_positions: position,
  size: count,
  /** The chain value after the last event. */
  chain: hash,
  /** The signed head of this size. */
  checkpoint: z.string(),
  /** The public key of both signatures. */
  key: z.string(),
  ranges: z.array(
    z.object({
      from: position,
      to: position,
      chain: hash,
      files: z.array(z.object({ table: z.enum(archiveTables), name: z.string(), rows: count, bytes: count, sha256: hash })),
    }),
  ),
})
const manifestSchema = bodySchema.extend({ signature: z.string() })

export type ArchiveBody = z.infer<typeof bodySchema>
export type ArchiveManifest = z.infer<typeof manifestSchema>
export type ArchiveRange = ArchiveBody['ranges'][number]

const pathOf = (directory: string): string => join(directory, 'manifest.json')

/** The text that is signed. Neither of its first lines can begin a checkpoint, so that no signature of one passes for the other. */
const signedText = (body: ArchiveBody): string =>
  `mindledger parquet export\n${body.log}\n${sha256Hex(Buffer.from(JSON.stringify(bodySchema.parse(body))))}\n`

/** Replaces the manifest, signed; after a crash there is the one before or this one. */
export const writeArchiveManifest = async (directory: string, work: string, body: ArchiveBody, signer: NoteSigner): Promise<void> => {
  const written = join(work, 'manifest.json')
  await rm(written, { force: true })
  await writeDurably(written, `${JSON.stringify({ ...bodySchema.parse(body), signature: signer.sign(signedText(body)) }, null, 1)}\n`)
  await rename(written, pathOf(directory))
  await sync(directory)
}

/**
 * The manifest of an export; undefined when the directory has none.
 * @throws ConfigError when it is damaged, too large or from a newer release
 */
export const readArchiveManifest = (directory: string): ArchiveManifest | undefined => {
  const path = pathOf(directory)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return undefined
  if (!found.isFile() || found.size > limits.archiveManifestMaxBytes)
    throw new ConfigError(`${path} is no file of at most ${limits.archiveManifestMaxBytes} bytes: it is not the manifest of an export`)
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    throw new ConfigError(`${path} is damaged, is not the manifest of an export, or a newer release wrote it`)
  }
}

/** Whether one of these keys signed the manifest as it is. */
export const isSigned = (manifest: ArchiveManifest, keys: readonly NoteVerifier[]): boolean => {
  const note = readNote(manifest.signature)
  return note?.text === signedText(manifest) && keys.some((key) => judge(note, key) === 'signed')
}
