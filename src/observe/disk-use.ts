import { existsSync } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytes } from '../basics/disk.js'
import type { DataPaths } from '../setup/data-directory.js'
import { openForReading, type LogConnection } from '../log/storage/schema.js'

/** The kinds of data in a data directory. */
export const diskKinds = {
  log: 'the log: events, resources and indexes',
  log_wal: 'the write-ahead log of the log',
  payloads: 'secrets and recorded rows, encrypted, in the file of the log; an estimate if there are many',
  files: 'contents of the current files',
  matrices: 'training matrices of the current models',
  artefacts: 'artefacts of the current models',
  other_blobs: 'blobs that only past events name, or that no event names yet',
  duckdb: 'the tables that SQL reads',
  duckdb_wal: 'the write-ahead log of DuckDB',
  knowledge: 'the indexes of knowledge bases, which follow the log',
  temporary: 'uploads, trainings and spilled data of queries',
} as const

export type DiskKind = keyof typeof diskKinds

/** Bytes by kind, and the free bytes on the disk. */
export type DiskUse = { bytes: Record<DiskKind, number>; free: number }

const sizeOf = async (file: string): Promise<number> => {
  // A file may disappear meanwhile.
  const found = await stat(file).catch(() => undefined)
  return found?.size ?? 0
}

const inParallel = 64

type Add = (path: string, bytes: number) => void

/**
 * The sizes of files by their paths in a directory. `known` has sizes that need not be read again. Node's recursive `readdir` fails as a
 * whole if one directory disappears meanwhile.
 */
const sizesIn = async (directory: string, add: Add, known: ReadonlyMap<string, number> = new Map(), below = ''): Promise<void> => {
  const names = await readdir(join(directory, below)).catch(() => [])
  const directories: string[] = []
  for (let i = 0; i < names.length; i += inParallel)
    await Promise.all(
      names.slice(i, i + inParallel).map(async (name) => {
        const path = join(below, name)
        const size = known.get(path)
        if (size !== undefined) {
          add(path, size)
          return
        }
        const found = await lstat(join(directory, path)).catch(() => undefined)
        if (found?.isFile() === true) add(path, found.size)
        if (found?.isDirectory() === true) directories.push(path)
      }),
    )
  for (const path of directories) await sizesIn(directory, add, known, path)
}

const sampleMaxPayloads = 1_000
const hashSpace = 2 ** 48

/**
 * Estimates the bytes of all payloads without reading all of them. Hashes are evenly distributed, so the last of the first thousand hashes
 * shows which share of all payloads these are. Fewer payloads are counted exactly.
 */
const payloadBytes = (db: LogConnection): number => {
  const rows = db
    .prepare<[number], { hash: string; bytes: number }>(
      'SELECT hash, length(hash) + length(key_id) + coalesce(length(wrapped), 0) + length(body) AS bytes FROM payloads ORDER BY hash LIMIT ?',
    )
    .all(sampleMaxPayloads)
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  const last = rows.at(-1)
  if (!last || rows.length < sampleMaxPayloads) return bytes
  return Math.round(bytes / ((parseInt(last.hash.slice(0, 12), 16) + 1) / hashSpace))
}

type BlobKind = 'files' | 'matrices' | 'artefacts'

/**
 * The part of a measurement that the next one can use: the kinds of blobs, which change with a file or a model, and the sizes of blobs,
 * which never change.
 */
type Kept = { changed: string; kinds: ReadonlyMap<string, BlobKind>; sizes: ReadonlyMap<string, number> }

const nothingKept = (): Kept => ({ changed: '', kinds: new Map(), sizes: new Map() })

/** Differs after each change of a file or a model: a later change has a later time, and a deletion leaves one less. */
const lastChange = (db: LogConnection): string =>
  db
    .prepare<[], string>(`SELECT count(*) || ' ' || coalesce(max(updated_at), '') FROM resources WHERE kind IN ('file', 'model')`)
    .pluck()
    .get() ?? ''

/** The blobs that current resources refer to. */
const namedBlobs = (db: LogConnection): Map<string, BlobKind> => {
  const kinds = new Map<string, BlobKind>()
  const files = db.prepare<[], string>(`SELECT state ->> '$.content' FROM resources WHERE kind = 'file'`).pluck()
  for (const hash of files.iterate()) kinds.set(hash, 'files')
  const versions = db.prepare<[], { artefact: string | null; matrix: string | null }>(
    `SELECT v.value ->> '$.result.artefact' AS artefact, v.value ->> '$.result.matrix' AS matrix
     FROM resources, json_each(state, '$.versions') AS v WHERE kind = 'model'`,
  )
  for (const { artefact, matrix } of versions.iterate()) {
    if (artefact !== null) kinds.set(artefact, 'artefacts')
    if (matrix !== null) kinds.set(matrix, 'matrices')
  }
  return kinds
}

/** Reads the bytes of payloads and the kinds of blobs from the log's file; nothing without a log. */
const readLog = (file: string, kept: Kept): { payloads: number } & Pick<Kept, 'changed' | 'kinds'> => {
  if (!existsSync(file)) return { payloads: 0, changed: '', kinds: new Map() }
  const db = openForReading(file)
  try {
    const changed = lastChange(db)
    return { payloads: payloadBytes(db), changed, kinds: changed === kept.changed ? kept.kinds : namedBlobs(db) }
  } finally {
    db.close()
  }
}

/** A blob is named by its hash. */
const blobName = /^[0-9a-f]{64}$/

const measure = async (paths: DataPaths, kept: Kept): Promise<{ use: DiskUse; kept: Kept }> => {
  const { payloads, changed, kinds } = readLog(paths.log, kept)
  const bytes: Record<DiskKind, number> = {
    log: Math.max(0, (await sizeOf(paths.log)) - payloads),
    log_wal: await sizeOf(`${paths.log}-wal`),
    payloads,
    ...{ files: 0, matrices: 0, artefacts: 0, other_blobs: 0 },
    duckdb: await sizeOf(paths.tablesFile),
    duckdb_wal: await sizeOf(`${paths.tablesFile}.wal`),
    ...{ knowledge: 0, temporary: 0 },
  }
  const sizes = new Map<string, number>()
  const addBlob: Add = (name, size) => {
    bytes[kinds.get(name) ?? 'other_blobs'] += size
    if (blobName.test(name)) sizes.set(name, size)
  }
  await sizesIn(paths.blobs, addBlob, kept.sizes)
  await sizesIn(paths.knowledge, (_, size) => (bytes.knowledge += size))
  await sizesIn(paths.temporary, (_, size) => (bytes.temporary += size))
  return { use: { bytes, free: freeBytes(paths.root) }, kept: { changed, kinds, sizes } }
}

/**
 * Measures the disk use of a data directory, with or without a running server. It does not scan the log.
 *
 * @example (await diskUse(dataPaths('./data'))).bytes.files // 48_213
 */
export const diskUse = async (paths: DataPaths): Promise<DiskUse> => (await measure(paths, nothingKept())).use

/**
 * The same, cached for `maxAgeMs`; concurrent callers share one measurement. A later measurement reads only what may have changed.
 *
 * @example const measureUse = keptDiskUse(paths, 10_000); await measureUse()
 */
export const keptDiskUse = (paths: DataPaths, maxAgeMs: number): (() => Promise<DiskUse>) => {
  let kept = nothingKept()
  let last: { use: Promise<DiskUse>; at: number } | undefined
  const again = async (): Promise<DiskUse> => {
    const measured = await measure(paths, kept)
    kept = measured.kept
    return measured.use
  }
  return () => {
    if (!last || performance.now() - last.at > maxAgeMs) {
      const use = again()
      last = { use, at: performance.now() }
      use.catch(() => (last = undefined))
    }
    return last.use
  }
}
