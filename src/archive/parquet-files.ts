import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { nextChain } from '../../events/stored/chain.js'
import { limits } from '../basics/limits.js'
import { openSandbox, writeParquet } from '../files/tables/parquet-writer.js'
import type { LogReader } from '../log/sqlite/log-reader.js'
import { ConfigError } from '../setup/config.js'
import type { ArchiveRange } from './manifest.js'
import type { ArchiveStore, MadeFile } from './store.js'
import { archiveTables, fieldColumns, fieldsOf, fileName, rangeName, selectOf } from './tables.js'

/** The source of a range's events, and the place of its files: below `work` until all are complete. */
type Place = { reader: Pick<LogReader, 'read'>; store: ArchiveStore; work: string }

/** Reads the events of a range into the table `events`, and returns the chain after them. */
const load = async (connection: DuckDBConnection, reader: Place['reader'], from: number, to: number, before: Buffer): Promise<Buffer> => {
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

/** The text of a range's manifest; undefined if there is none that an export wrote. @throws ConfigError when the place cannot be reached */
const manifestIn = async (store: ArchiveStore, name: string): Promise<string | undefined> => {
  try {
    return await store.readText(name, limits.archiveRangeManifestMaxBytes)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    return undefined
  }
}

/**
 * Writes the files of the range after a chain value. The files get their names when all their bytes are on the disk. An existing manifest
 * of the range is removed before that.
 *
 * @throws Error when another process wrote the range meanwhile: this one may have been halted until another node took its task over
 * @example await writeRangeFiles({ reader, store, work }, { from: 1, to: 10_000, before: genesis(reader.id) })
 */
export const writeRangeFiles = async (
  { reader, store, work }: Place,
  { from, to, before }: { from: number; to: number; before: Buffer },
): Promise<ArchiveRange> => {
  const manifest = rangeName(from, to)
  const found = await manifestIn(store, manifest)
  const targets = archiveTables.map((table) => ({ table, name: fileName(table, from, to), path: join(work, `${table}.parquet`) }))
  const connection = await openSandbox(
    targets.map(({ path }) => path),
    join(work, 'spill'),
    limits.archiveMemoryBytes,
  )
  try {
    const chain = await load(connection, reader, from, to, before)
    const made: (ArchiveRange['files'][number] & MadeFile)[] = []
    const rowBytes = Number((await connection.runAndReadAll('SELECT avg(length(text)) * 2 FROM read')).getRows()[0]?.[0] ?? 0)
    for (const { table, name, path } of targets) {
      const select = `${selectOf(table, readAsTyped)} ORDER BY position`
      const { rowCount: rows, bytes, sha256 } = await writeParquet(connection, select, { columnCount: 14, rowBytes }, path)
      made.push({ table, name, rows, bytes, sha256, path })
    }
    if ((await manifestIn(store, manifest)) !== found) throw new Error(`another process wrote ${manifest} meanwhile`)
    await store.remove(manifest)
    for (const file of made) await store.put(file, file.name)
    return { from, to, chain: chain.toString('hex'), files: made.map(({ path: _, ...file }) => file) }
  } finally {
    connection.closeSync()
  }
}
