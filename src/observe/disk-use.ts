import { existsSync } from 'node:fs'
import { lstat, readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
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
  other_blobs: 'contents that only past events name, or none yet',
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

/** The sizes of files by their paths in a directory. Node's recursive `readdir` fails as a whole if one directory disappears meanwhile. */
const sizesIn = async (directory: string, add: (path: string, bytes: number) => void, below = ''): Promise<void> => {
  const names = await readdir(join(directory, below)).catch(() => [])
  const directories: string[] = []
  for (let i = 0; i < names.length; i += inParallel)
    await Promise.all(
      names.slice(i, i + inParallel).map(async (name) => {
        const path = join(below, name)
        const found = await lstat(join(directory, path)).catch(() => undefined)
        if (found?.isFile() === true) add(path, found.size)
        if (found?.isDirectory() === true) directories.push(path)
      }),
    )
  for (const path of directories) await sizesIn(directory, add, path)
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
const readLog = (file: string): { payloads: number; blobs: ReadonlyMap<string, BlobKind> } => {
  if (!existsSync(file)) return { payloads: 0, blobs: new Map() }
  const db = openForReading(file)
  try {
    return { payloads: payloadBytes(db), blobs: namedBlobs(db) }
  } finally {
    db.close()
  }
}

/**
 * Measures the disk use of a data directory, with or without a running server. It does not scan the log.
 *
 * @example (await diskUse(dataPaths('./data'))).bytes.files // 48_213
 */
export const diskUse = async (paths: DataPaths): Promise<DiskUse> => {
  const { payloads, blobs } = readLog(paths.log)
  const bytes: Record<DiskKind, number> = {
    log: Math.max(0, (await sizeOf(paths.log)) - payloads),
    log_wal: await sizeOf(`${paths.log}-wal`),
    payloads,
    ...{ files: 0, matrices: 0, artefacts: 0, other_blobs: 0 },
    duckdb: await sizeOf(paths.tablesFile),
    duckdb_wal: await sizeOf(`${paths.tablesFile}.wal`),
    ...{ knowledge: 0, temporary: 0 },
  }
  await sizesIn(paths.blobs, (name, size) => (bytes[blobs.get(name) ?? 'other_blobs'] += size))
  await sizesIn(paths.knowledge, (_, size) => (bytes.knowledge += size))
  await sizesIn(paths.temporary, (_, size) => (bytes.temporary += size))
  const { bavail, bsize } = await statfs(paths.root)
  return { bytes, free: bavail * bsize }
}

/**
 * The same, cached for `maxAgeMs`; concurrent callers share one measurement.
 *
 * @example const measure = keptDiskUse(paths, 10_000); await measure()
 */
export const keptDiskUse = (paths: DataPaths, maxAgeMs: number): (() => Promise<DiskUse>) => {
  let kept: { use: Promise<DiskUse>; at: number } | undefined
  return () => {
    if (!kept || performance.now() - kept.at > maxAgeMs) {
      const use = diskUse(paths)
      kept = { use, at: performance.now() }
      use.catch(() => (kept = undefined))
    }
    return kept.use
  }
}
