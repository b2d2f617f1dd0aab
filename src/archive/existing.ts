import { genesis } from '../../events/stored/chain.js'
import { readTlogCheckpoint } from '../audit/tlog-checkpoint.js'
import { readNote } from '../audit/note.js'
import type { NoteSigner } from '../audit/note-key.js'
import type { LogReader } from '../log/sqlite/log-reader.js'
import { ConfigError } from '../setup/config.js'
import { isSigned, readArchiveManifest, writeArchiveManifest, writeRangeManifest, type ArchiveManifest } from './manifest.js'
import type { ArchiveStore } from './store.js'
import { archiveFolders, rangeOfFile } from './tables.js'

/** The place of an export, its log, and the key that signs it. */
export type Place = { store: ArchiveStore; reader: Pick<LogReader, 'id' | 'read' | 'proofs'>; signer: NoteSigner }

/** The first name in a place that no export makes, not even an export that was cut off before its first manifest. */
const strangerIn = async (store: ArchiveStore): Promise<string | undefined> => {
  for (const name of (await store.list('')).keys()) {
    if (!archiveFolders.includes(name)) return name
    const other = [...(await store.list(name)).keys()].find((file) => !rangeOfFile(name, file))
    if (other !== undefined) return `${name}/${other}`
  }
  return undefined
}

/**
 * The manifest of the export so far, if the place has one of this log; undefined when it is empty.
 * @throws ConfigError when the place has anything else
 */
export const begunIn = async ({ store, reader, signer }: Place): Promise<ArchiveManifest | undefined> => {
  const { place } = store
  const found = await readArchiveManifest(store)
  if (!found) {
    const stranger = await strangerIn(store)
    if (stranger !== undefined) throw new ConfigError(`${place} is not empty and not an export (it has ${stranger}): name a new directory`)
    return undefined
  }
  if (found.log !== reader.id) throw new ConfigError(`${place} is an export of another log, ${found.log}: name a new directory`)
  if (!isSigned(found, [signer]))
    throw new ConfigError(
      `the manifest of ${place} is not signed by this log's key: it was changed, or the key is newer. Name a new directory`,
    )
  const proofs = reader.proofs()
  const root = readTlogCheckpoint(readNote(found.checkpoint)?.text ?? '')?.root
  if (found.size > proofs.size || !root?.equals(proofs.rootAt(found.size)))
    throw new ConfigError(`${place} has other events than the log up to position ${found.size}: name a new directory`)
  return found
}

/** Writes a separate manifest for each range of a manifest of format 1. Until the last step the export keeps format 1. */
export const upgraded = async ({ store, signer }: Place, work: string, begun: ArchiveManifest): Promise<void> => {
  if (begun.mindledger_parquet !== 1) return
  const { log, ranges } = begun
  let before = genesis(log).toString('hex')
  for (const range of ranges) {
    await writeRangeManifest({ store, work }, { log, before, range }, signer)
    before = range.chain
  }
  await writeArchiveManifest({ store, work }, { ...begun, mindledger_parquet: 2 }, signer)
}
