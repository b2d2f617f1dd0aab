import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { sha256Hex } from '../../events/stored/chain.js'
import { readNote, judge } from '../audit/note.js'
import type { NoteSigner, NoteVerifier } from '../audit/note-key.js'
import { writeDurably } from '../backup/durable-files.js'
import { limits } from '../basics/limits.js'
import { ConfigError } from '../setup/config.js'
import type { ArchiveStore } from './store.js'
import { archiveTables, rangeName } from './tables.js'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const position = z.int().positive()
const count = z.int().nonnegative()

const rangeFields = {
  from: position,
  to: position,
  /** The chain value after its last event. */
  chain: hash,
  files: z.array(z.object({ table: z.enum(archiveTables), name: z.string(), rows: count, bytes: count, sha256: hash })),
}

const fields = {
  log: z.string().min(1),
  /** How many positions each range has; the last one may have fewer. */
  range_positions: position,
  size: count,
  /** The chain value after the last event. */
  chain: hash,
  /** The signed head of this size. */
  checkpoint: z.string(),
  /** The public key of all signatures. */
  key: z.string(),
}

const bodySchema = z.object({ mindledger_parquet: z.literal(2), ...fields })
const signature = z.string()

/** Format 1 had all ranges in the manifest, which was written whole after each of them. */
const manifestSchema = z.discriminatedUnion('mindledger_parquet', [
  bodySchema.extend({ signature }),
  z.object({ mindledger_parquet: z.literal(1), ...fields, ranges: z.array(z.object(rangeFields)), signature }),
])

/** The manifest of one range, in a file of its own: its contents, and the chain value of the previous range. */
const rangeSchema = z.object({ mindledger_parquet: z.literal(2), log: z.string().min(1), before: hash, ...rangeFields })
const rangeManifestSchema = rangeSchema.extend({ signature })

export type ArchiveBody = z.infer<typeof bodySchema>
export type ArchiveManifest = z.infer<typeof manifestSchema>
export type ArchiveRange = Pick<z.infer<typeof rangeSchema>, 'from' | 'to' | 'chain' | 'files'>

type RangeManifest = z.infer<typeof rangeManifestSchema>
type ManifestKind = 'export' | 'range'

/** The name of the manifest of an export. */
const manifestName = 'manifest.json'

/** The place for manifests: an export, and the folder for files that are not complete yet. */
type ManifestPlace = { store: ArchiveStore; work: string }

/** The signed text. Its first line cannot begin a checkpoint, so that a signature of one kind of text is never valid for the other. */
const signedText = (what: ManifestKind, body: { log: string }): string =>
  `mindledger parquet ${what}\n${body.log}\n${sha256Hex(Buffer.from(JSON.stringify(body)))}\n`

/** Replaces a file by a signed text. After a crash, the file has the old text or the new one. */
const writeSigned = async (
  { store, work }: ManifestPlace,
  name: string,
  what: ManifestKind,
  body: { log: string },
  signer: NoteSigner,
): Promise<void> => {
  const written = join(work, manifestName)
  await rm(written, { force: true })
  const text = `${JSON.stringify({ ...body, signature: signer.sign(signedText(what, body)) }, null, 1)}\n`
  await writeDurably(written, text)
  const bytes = Buffer.from(text)
  await store.put({ path: written, bytes: bytes.length, sha256: sha256Hex(bytes) }, name)
}

const wasSigned = (what: ManifestKind, { signature, ...body }: ArchiveManifest | RangeManifest, keys: readonly NoteVerifier[]): boolean => {
  const note = readNote(signature)
  return note?.text === signedText(what, body) && keys.some((key) => judge(note, key) === 'signed')
}

/** Replaces the manifest, signed. */
export const writeArchiveManifest = (at: ManifestPlace, body: ArchiveBody, signer: NoteSigner): Promise<void> =>
  writeSigned(at, manifestName, 'export', bodySchema.parse(body), signer)

/**
 * The manifest of an export; undefined when there is none.
 * @throws ConfigError when it is damaged, too large or from a newer release
 */
export const readArchiveManifest = async (store: ArchiveStore): Promise<ArchiveManifest | undefined> => {
  try {
    const text = await store.readText(manifestName, limits.archiveManifestMaxBytes)
    return text === undefined ? undefined : manifestSchema.parse(JSON.parse(text))
  } catch (error) {
    // The place cannot be reached.
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${manifestName} of ${store.place} is damaged, is not the manifest of an export, or a newer release wrote it`)
  }
}

/** Whether one of these keys signed the manifest as it is. */
export const isSigned = (manifest: ArchiveManifest, keys: readonly NoteVerifier[]): boolean => wasSigned('export', manifest, keys)

type RangeOf = { log: string; before: string; range: ArchiveRange }

/** Writes or replaces the manifest of a range, signed. */
export const writeRangeManifest = (at: ManifestPlace, { log, before, range }: RangeOf, signer: NoteSigner): Promise<void> => {
  const body = rangeSchema.parse({ mindledger_parquet: 2, log, before, ...range })
  return writeSigned(at, rangeName(range.from, range.to), 'range', body, signer)
}

/**
 * The manifest of the range after a chain value.
 * @throws Error that says what is wrong with it
 */
export const readRangeManifest = async (
  store: ArchiveStore,
  { log, before, from, to, keys }: { log: string; before: string; from: number; to: number; keys: readonly NoteVerifier[] },
): Promise<ArchiveRange> => {
  const name = rangeName(from, to)
  const text = await store.readText(name, limits.archiveRangeManifestMaxBytes)
  if (text === undefined) throw new Error(`${name} is missing: no manifest describes positions ${from} to ${to}`)
  const read = (): RangeManifest | undefined => {
    try {
      return rangeManifestSchema.parse(JSON.parse(text))
    } catch {
      return undefined
    }
  }
  const manifest = read()
  if (!manifest || !wasSigned('range', manifest, keys)) throw new Error(`${name} is not signed by this key, or was changed`)
  if (manifest.log !== log || manifest.from !== from || manifest.to !== to || manifest.before !== before)
    throw new Error(`${name} does not follow from the previous range`)
  return manifest
}
