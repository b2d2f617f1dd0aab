import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { genesis, nextChain } from '../../events/stored/chain.js'
import { readCheckpoint } from '../audit/checkpoint.js'
import { signHead } from '../audit/heads.js'
import { readNote } from '../audit/note.js'
import type { NoteSigner } from '../audit/note-key.js'
import { sync } from '../basics/disk.js'
import { limits } from '../basics/limits.js'
import { openSandbox, writeParquet } from '../files/tables/parquet-writer.js'
import type { LogReader } from '../log/sqlite/log-reader.js'
import { ConfigError } from '../setup/config.js'
import { isSigned, readArchiveManifest, writeArchiveManifest, type ArchiveBody, type ArchiveRange } from './manifest.js'
import { archiveTables, fieldColumns, fieldsOf, fileName, selectOf } from './tables.js'

/** What an export takes: the log, its signer, and the size at which it ends. `rangePositions` counts for a new export alone. */
export type ArchiveJob = {
  directory: string
  reader: Pick<LogReader, 'logId' | 'read' | 'proofs'>
  signer: NoteSigner
  size: number
  rangePositions?: number
  onProgress?: (position: number) => void
}

/** Where files are written before they get their names. Whatever is in it was left by an export that was killed. */
const workFolder = '.part'

const rangeFile = /^\d{12}-\d{12}\.parquet$/

/** The first name in a directory that no export gives, not even one that was cut off before its first manifest. */
const strangerIn = async (directory: string): Promise<string | undefined> => {
  for (const name of await readdir(directory)) {
    if (name === workFolder) continue
    if (!archiveTables.some((table) => table === name)) return name
    const other = (await readdir(join(directory, name))).find((file) => !rangeFile.test(file))
    if (other !== undefined) return join(name, other)
  }
  return undefined
}

/** The manifest of the export so far, if the directory is one of this log. @throws ConfigError when it is anything else */
const begunIn = async ({ directory, reader, signer, size }: ArchiveJob): Promise<ArchiveBody | undefined> => {
  await mkdir(directory, { recursive: true })
  const found = readArchiveManifest(directory)
  if (!found) {
    const stranger = await strangerIn(directory)
    if (stranger !== undefined)
      throw new ConfigError(`${directory} is not empty and not an export (it has ${stranger}): name a new directory`)
    return undefined
  }
  if (found.log !== reader.logId) throw new ConfigError(`${directory} is an export of another log, ${found.log}: name a new directory`)
  if (!isSigned(found, [signer]))
    throw new ConfigError(
      `the manifest of ${directory} is not signed by this log's key: it was changed, or the key is newer. Name a new directory`,
    )
  if (found.size > size)
    throw new ConfigError(`${directory} goes up to position ${found.size} already, and this export would end at ${size}`)
  const root = readCheckpoint(readNote(found.checkpoint)?.text ?? '')?.root
  if (!root?.equals(reader.proofs().rootAt(found.size)))
    throw new ConfigError(`${directory} has other events than the log up to position ${found.size}: name a new directory`)
  return found
}

const isThere = async (directory: string, { files }: ArchiveRange): Promise<boolean> => {
  for (const { name, bytes } of files) if ((await stat(join(directory, name)).catch(() => undefined))?.size !== bytes) return false
  return true
}

/** The ranges at the beginning that are complete, or end where the export shall end, and whose files are there. */
const keptOf = async (directory: string, { ranges, range_positions }: ArchiveBody, size: number): Promise<ArchiveRange[]> => {
  const kept: ArchiveRange[] = []
  for (const range of ranges) {
    const isComplete = range.to === size || range.to - range.from + 1 === range_positions
    if (!isComplete || !(await isThere(directory, range))) break
    kept.push(range)
  }
  return kept
}

/** Removes files that the manifest does not name: of a range that has grown since, or that was cut off. */
const removeOthers = async (directory: string, ranges: readonly ArchiveRange[]): Promise<void> => {
  const named = new Set(ranges.flatMap(({ files }) => files.map(({ name }) => name)))
  for (const table of archiveTables)
    for (const name of await readdir(join(directory, table)))
      if (rangeFile.test(name) && !named.has(`${table}/${name}`)) await rm(join(directory, table, name))
}

/** Reads the events of a range into the table `events`, and returns the chain after them. */
const load = async (
  connection: DuckDBConnection,
  reader: ArchiveJob['reader'],
  from: number,
  to: number,
  before: Buffer,
): Promise<Buffer> => {
  const columns = Object.entries(fieldColumns).map(([name, type]) => `${name} ${type === 'TIMESTAMP' ? 'VARCHAR' : type}`)
  await connection.run(`CREATE TABLE read (${columns.join(', ')}, text VARCHAR, chain VARCHAR)`)
  const appender = await connection.createAppender('read')
  const types = Object.values(fieldColumns)
  let chain = before
  for (let position = from - 1; position < to;) {
    const events = reader.read(position, Math.min(limits.eventSliceMaxEvents, to - position), limits.eventSliceMaxChars)
    if (events.length === 0) throw new Error(`the log ends at position ${position}, the export was to reach ${to}`)
    for (const { text } of events) {
      chain = nextChain(chain, text)
      for (const [i, value] of [...fieldsOf(text), text, chain.toString('hex')].entries())
        if (value === null) appender.appendNull()
        else if (types[i] === 'BIGINT') appender.appendBigInt(BigInt(value))
        else appender.appendVarchar(value)
      appender.endRow()
      position += 1
    }
    appender.flushSync()
    await new Promise((resolve) => setImmediate(resolve))
  }
  appender.closeSync()
  return chain
}

const readAsTyped = '(SELECT * REPLACE (CAST(recorded_at AS TIMESTAMP) AS recorded_at) FROM read)'

/** Writes the files of one range: each gets its name when all its bytes are on the disk. */
const writeRange = async (
  { directory, reader }: ArchiveJob,
  work: string,
  from: number,
  to: number,
  before: Buffer,
): Promise<ArchiveRange> => {
  const targets = archiveTables.map((table) => ({ table, name: fileName(table, from, to), path: join(work, `${table}.parquet`) }))
  const connection = await openSandbox(
    targets.map(({ path }) => path),
    join(work, 'spill'),
    limits.archiveMemoryBytes,
  )
  try {
    const chain = await load(connection, reader, from, to, before)
    const files: ArchiveRange['files'] = []
    const rowBytes = Number((await connection.runAndReadAll('SELECT avg(length(text)) * 2 FROM read')).getRows()[0]?.[0] ?? 0)
    for (const { table, name, path } of targets) {
      const select = `${selectOf(table, readAsTyped)} ORDER BY position`
      const { rowCount: rows, bytes, sha256 } = await writeParquet(connection, select, { columnCount: 14, rowBytes }, path)
      files.push({ table, name, rows, bytes, sha256 })
    }
    for (const { name, path } of targets) await rename(path, join(directory, name))
    for (const table of archiveTables) await sync(join(directory, table))
    return { from, to, chain: chain.toString('hex'), files }
  } finally {
    connection.closeSync()
  }
}

/**
 * Writes the log up to a size as Parquet files, a range of positions at a time, beside a signed manifest. Ranges that are complete are
 * not written again; after each range the manifest says what there is. Returns the number of ranges that were written.
 *
 * @throws ConfigError when the directory is neither empty nor an export of this log
 * @example await writeArchive({ directory: '/mnt/history', reader, signer, size: reader.head() })
 */
export const writeArchive = async (job: ArchiveJob): Promise<number> => {
  const { directory, reader, signer, size, onProgress } = job
  const begun = await begunIn(job)
  const rangePositions = begun?.range_positions ?? job.rangePositions ?? limits.archiveRangePositions
  await mkdir(join(directory, workFolder), { recursive: true })
  for (const left of await readdir(join(directory, workFolder))) await rm(join(directory, workFolder, left), { recursive: true })
  for (const table of archiveTables) await mkdir(join(directory, table), { recursive: true })
  const work = await mkdtemp(join(directory, workFolder, 'range-'))
  const proofs = reader.proofs()
  const ranges = begun ? await keptOf(directory, begun, size) : []
  let written = 0
  const describe = async (): Promise<void> => {
    const last = ranges.at(-1)
    const end = last?.to ?? 0
    const chain = last?.chain ?? genesis(reader.logId).toString('hex')
    const checkpoint = signHead(signer, end, proofs.rootAt(end))
    const about = { mindledger_parquet: 1, log: reader.logId, range_positions: rangePositions } as const
    await writeArchiveManifest(directory, work, { ...about, size: end, chain, checkpoint, key: signer.vkey, ranges }, signer)
  }
  try {
    for (let end = ranges.at(-1)?.to ?? 0; end < size;) {
      const before = Buffer.from(ranges.at(-1)?.chain ?? genesis(reader.logId).toString('hex'), 'hex')
      const range = await writeRange(job, work, end + 1, Math.min(end + rangePositions, size), before)
      ranges.push(range)
      end = range.to
      written += 1
      // A range that has grown takes the place of the shorter one; a manifest that named less than before would be a step back.
      if (end >= (begun?.size ?? 0)) await describe()
      onProgress?.(end)
    }
    if (!begun && ranges.length === 0) await describe()
    await removeOthers(directory, ranges)
    return written
  } finally {
    await rm(join(directory, workFolder), { recursive: true, force: true })
  }
}
