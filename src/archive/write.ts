import { mkdir, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { genesis } from '../../events/stored/chain.js'
import { signHead } from '../audit/heads.js'
import { limits } from '../basics/limits.js'
import { ConfigError } from '../setup/config.js'
import { begunIn, upgraded, workFolder, type Place } from './begin.js'
import { readRangeManifest, writeArchiveManifest, writeRangeManifest, type ArchiveRange } from './manifest.js'
import { writeRangeFiles } from './range-files.js'
import { archiveFolders, isInExport, rangeEnd, rangeOfFile } from './tables.js'

/** What an export takes: the log, its signer, and the size at which it ends. `rangePositions` counts for a new export alone. */
export type ArchiveJob = Place & {
  size: number
  rangePositions?: number
  /** Only ranges that have all their positions. */
  finishedOnly?: boolean
  /** Trusts that the ranges which the manifest names are there, so that a run does not look at each. */
  trusting?: boolean
  /** Bytes that stay free on the disk of the directory. */
  keepFree?: number
  onProgress?: (position: number) => void
}

/** Where an export ends, how many ranges were written, and how many positions each has. */
export type Archived = { size: number; written: number; rangePositions: number }

/** The manifest of a range if it is there, with its files. */
const keptRange = async (
  { directory, reader, signer }: Place,
  place: { from: number; to: number; before: string },
): Promise<ArchiveRange | undefined> => {
  let range: ArchiveRange
  try {
    range = readRangeManifest(directory, { ...place, log: reader.id, keys: [signer] })
  } catch {
    return undefined
  }
  for (const { name, bytes } of range.files)
    if ((await stat(join(directory, name)).catch(() => undefined))?.size !== bytes) return undefined
  return range
}

/** Removes files that the export does not have: of a range that has grown since, or that was cut off. */
const removeOthers = async (directory: string, size: number, rangePositions: number): Promise<void> => {
  for (const folder of archiveFolders)
    for (const name of await readdir(join(directory, folder))) {
      const range = rangeOfFile(folder, name)
      if (range && !isInExport(range, size, rangePositions)) await rm(join(directory, folder, name))
    }
}

const refuseFull = async (directory: string, keepFree: number): Promise<void> => {
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize < keepFree)
    throw Object.assign(new Error(`the disk of ${directory} has less than ${keepFree} bytes free, which are left for the log`), {
      code: 'ENOSPC',
    })
}

/** An empty folder for files on their way, and the folders where they go. */
const prepared = async (directory: string): Promise<string> => {
  await mkdir(join(directory, workFolder), { recursive: true })
  for (const left of await readdir(join(directory, workFolder))) await rm(join(directory, workFolder, left), { recursive: true })
  for (const folder of archiveFolders) await mkdir(join(directory, folder), { recursive: true })
  return mkdtemp(join(directory, workFolder, 'range-'))
}

/**
 * Writes the log up to a size as Parquet files, a range of positions at a time. Each range has a signed manifest, and the manifest of
 * the export says after each how far it is. Ranges that are there are not written again.
 *
 * @throws ConfigError when the directory is neither empty nor an export of this log, or goes further already
 * @example await writeArchive({ directory: '/mnt/history', reader, signer, size: reader.head() }) // { size: 25_000, written: 3, … }
 */
export const writeArchive = async (job: ArchiveJob): Promise<Archived> => {
  const { directory, reader, signer, keepFree, onProgress } = job
  const begun = await begunIn(job)
  const rangePositions = begun?.range_positions ?? job.rangePositions ?? limits.archiveRangePositions
  const begunSize = begun?.size ?? 0
  const size = job.finishedOnly ? Math.max(begunSize, job.size - (job.size % rangePositions)) : job.size
  if (begunSize > size) throw new ConfigError(`${directory} goes up to position ${begunSize} already, and this export would end at ${size}`)
  const work = await prepared(directory)
  const proofs = reader.proofs()
  const log = reader.id
  const describe = async (end: number, chain: string): Promise<void> => {
    const body = { mindledger_parquet: 2, log, range_positions: rangePositions, size: end, chain, key: signer.vkey } as const
    await writeArchiveManifest(directory, work, { ...body, checkpoint: signHead(signer, end, proofs.rootAt(end)) }, signer)
  }
  try {
    if (begun) await upgraded(job, work, begun)
    let before = genesis(log).toString('hex')
    if (!begun) await describe(0, before)
    let end = 0
    const isWhole = job.trusting && begun && begunSize % rangePositions === 0
    if (isWhole) [end, before] = [begunSize, begun.chain]
    let written = 0
    while (end < size) {
      const place = { from: end + 1, to: rangeEnd(end, size, rangePositions), before }
      let range = await keptRange(job, place)
      if (!range) {
        if (keepFree !== undefined) await refuseFull(directory, keepFree)
        range = await writeRangeFiles({ reader, directory, work }, { ...place, before: Buffer.from(before, 'hex') })
        await writeRangeManifest(directory, work, { log, before, range }, signer)
        written += 1
      }
      end = range.to
      before = range.chain
      // A manifest that named less than before would be a step back.
      if (end > begunSize) await describe(end, before)
      onProgress?.(end)
    }
    if (!isWhole) await removeOthers(directory, size, rangePositions)
    return { size, written, rangePositions }
  } finally {
    await rm(join(directory, workFolder), { recursive: true, force: true })
  }
}
