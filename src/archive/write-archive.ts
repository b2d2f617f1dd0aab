import { genesis } from '../../events/stored/chain.js'
import { signHead } from '../audit/heads.js'
import { freeBytes } from '../basics/disk.js'
import { limits } from '../basics/limits.js'
import { ConfigError } from '../setup/config.js'
import { begunIn, upgraded, type Place } from './existing.js'
import { readRangeManifest, writeArchiveManifest, writeRangeManifest, type ArchiveRange } from './manifest.js'
import { writeRangeFiles } from './parquet-files.js'
import type { ArchiveStore } from './store.js'
import { archiveFolders, isInExport, rangeEnd, rangeName, rangeOfFile } from './tables.js'

/** The input of an export: the log, its signer, and the size at which it ends. `rangePositions` only applies to a new export. */
export type ArchiveJob = Place & {
  size: number
  rangePositions?: number
  /** Whether to write only full ranges. */
  finishedOnly?: boolean
  /** Whether to trust that the ranges of the manifest exist, so that a run does not check each. */
  trusting?: boolean
  /** Bytes that stay free on the disk of the work folder. */
  keepFree?: number
  onProgress?: (position: number) => void
}

/** The end of an export, the number of written ranges, and the number of positions in each. */
export type ArchiveResult = { size: number; written: number; rangePositions: number }

type Folders = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The files in the folders of an export when it continues. */
const foldersOf = async (store: ArchiveStore): Promise<Folders> => {
  const found = new Map<string, ReadonlyMap<string, number>>()
  for (const folder of archiveFolders) found.set(folder, await store.list(folder))
  return found
}

/** The manifest of a range, if it exists together with its files. */
const keptRange = async (
  { store, reader, signer }: Place,
  there: Folders,
  place: { from: number; to: number; before: string },
): Promise<ArchiveRange | undefined> => {
  const bytesOf = (name: string): number | undefined => {
    const [folder = '', file = ''] = name.split('/')
    return there.get(folder)?.get(file)
  }
  if (bytesOf(rangeName(place.from, place.to)) === undefined) return undefined
  try {
    const range = await readRangeManifest(store, { ...place, log: reader.id, keys: [signer] })
    return range.files.every(({ name, bytes }) => bytesOf(name) === bytes) ? range : undefined
  } catch (error) {
    // A place that cannot be reached may have the manifest.
    if (error instanceof ConfigError) throw error
    return undefined
  }
}

/** Removes files that do not belong to the export: files of a range that has grown since, or whose export was cut off. */
const removeOthers = async (store: ArchiveStore, there: Folders, size: number, rangePositions: number): Promise<void> => {
  for (const [folder, names] of there)
    for (const name of names.keys()) {
      const range = rangeOfFile(folder, name)
      if (range && !isInExport(range, size, rangePositions)) await store.remove(`${folder}/${name}`)
    }
}

const refuseFull = (work: string, keepFree: number, place: string): void => {
  if (freeBytes(work) < keepFree)
    throw Object.assign(new Error(`the disk for files of ${place} has less than ${keepFree} bytes free, which are left for the log`), {
      code: 'ENOSPC',
    })
}

/**
 * Writes the log up to a size as Parquet files, a range of positions at a time. Each range has a signed manifest. After each range, the
 * manifest of the export gets the new end. Existing ranges are not written again.
 *
 * @throws ConfigError when the place is neither empty nor an export of this log, or already goes further
 * @example await writeArchive({ store: new FolderStore('/mnt/history'), reader, signer, size: reader.head() }) // { size: 25_000, written: 3, … }
 */
export const writeArchive = async (job: ArchiveJob): Promise<ArchiveResult> => {
  const { store, reader, signer, keepFree, onProgress } = job
  try {
    const { place } = store
    const begun = await begunIn(job)
    const rangePositions = begun?.range_positions ?? job.rangePositions ?? limits.archiveRangePositions
    const begunSize = begun?.size ?? 0
    const size = job.finishedOnly ? Math.max(begunSize, job.size - (job.size % rangePositions)) : job.size
    if (begunSize > size) throw new ConfigError(`${place} goes up to position ${begunSize} already, and this export would end at ${size}`)
    const work = await store.work()
    const at = { store, work }
    const proofs = reader.proofs()
    const log = reader.id
    const describe = async (end: number, chain: string): Promise<void> => {
      const body = { mindledger_parquet: 2, log, range_positions: rangePositions, size: end, chain, key: signer.vkey } as const
      await writeArchiveManifest(at, { ...body, checkpoint: signHead(signer, end, proofs.rootAt(end)) }, signer)
    }
    if (begun) await upgraded(job, work, begun)
    let before = genesis(log).toString('hex')
    if (!begun) await describe(0, before)
    let end = 0
    const isWhole = job.trusting && begun && begunSize % rangePositions === 0
    if (isWhole) [end, before] = [begunSize, begun.chain]
    const there = isWhole ? new Map<string, never>() : await foldersOf(store)
    let written = 0
    while (end < size) {
      const wanted = { from: end + 1, to: rangeEnd(end, size, rangePositions), before }
      let range = await keptRange(job, there, wanted)
      if (!range) {
        if (keepFree !== undefined) refuseFull(work, keepFree, place)
        range = await writeRangeFiles({ reader, ...at }, { ...wanted, before: Buffer.from(before, 'hex') })
        await writeRangeManifest(at, { log, before, range }, signer)
        written += 1
      }
      end = range.to
      before = range.chain
      // A manifest must never name fewer ranges than before.
      if (end > begunSize) await describe(end, before)
      onProgress?.(end)
    }
    if (!isWhole) await removeOthers(store, there, size, rangePositions)
    return { size, written, rangePositions }
  } finally {
    await store.close()
  }
}
