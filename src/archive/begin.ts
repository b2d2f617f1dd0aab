import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { genesis } from '../../events/stored/chain.js'
import { readCheckpoint } from '../audit/checkpoint.js'
import { readNote } from '../audit/note.js'
import type { NoteSigner } from '../audit/note-key.js'
import type { LogReader } from '../log/sqlite/log-reader.js'
import { ConfigError } from '../setup/config.js'
import { isSigned, readArchiveManifest, writeArchiveManifest, writeRangeManifest, type ArchiveManifest } from './manifest.js'
import { archiveFolders, rangeOfFile } from './tables.js'

/** Where files are written before they get their names. Whatever is in it was left by an export that was killed. */
export const workFolder = '.part'

/** A directory, the log whose export it is or becomes, and the key that signs it. */
export type Place = { directory: string; reader: Pick<LogReader, 'id' | 'read' | 'proofs'>; signer: NoteSigner }

/** The first name in a directory that no export gives, not even one that was cut off before its first manifest. */
const strangerIn = async (directory: string): Promise<string | undefined> => {
  for (const name of await readdir(directory)) {
    if (name === workFolder) continue
    if (!archiveFolders.includes(name)) return name
    const other = (await readdir(join(directory, name))).find((file) => !rangeOfFile(name, file))
    if (other !== undefined) return join(name, other)
  }
  return undefined
}

/**
 * The manifest of the export so far, if the directory is one of this log; undefined when it is empty.
 * @throws ConfigError when it is anything else
 */
export const begunIn = async ({ directory, reader, signer }: Place): Promise<ArchiveManifest | undefined> => {
  await mkdir(directory, { recursive: true })
  const found = readArchiveManifest(directory)
  if (!found) {
    const stranger = await strangerIn(directory)
    if (stranger !== undefined)
      throw new ConfigError(`${directory} is not empty and not an export (it has ${stranger}): name a new directory`)
    return undefined
  }
  if (found.log !== reader.id) throw new ConfigError(`${directory} is an export of another log, ${found.log}: name a new directory`)
  if (!isSigned(found, [signer]))
    throw new ConfigError(
      `the manifest of ${directory} is not signed by this log's key: it was changed, or the key is newer. Name a new directory`,
    )
  const proofs = reader.proofs()
  const root = readCheckpoint(readNote(found.checkpoint)?.text ?? '')?.root
  if (found.size > proofs.size || !root?.equals(proofs.rootAt(found.size)))
    throw new ConfigError(`${directory} has other events than the log up to position ${found.size}: name a new directory`)
  return found
}

/** Gives each range of a manifest of format 1 a manifest of its own. Until the last step the directory is an export of format 1. */
export const upgraded = async ({ directory, signer }: Place, work: string, begun: ArchiveManifest): Promise<void> => {
  if (begun.mindledger_parquet !== 1) return
  const { log, ranges } = begun
  let before = genesis(log).toString('hex')
  for (const range of ranges) {
    await writeRangeManifest(directory, work, { log, before, range }, signer)
    before = range.chain
  }
  await writeArchiveManifest(directory, work, { ...begun, mindledger_parquet: 2 }, signer)
}
