import { lstat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { chainLeaf, genesis, leafHash } from '../../events/stored/chain.js'
import { originOf, readTlogCheckpoint } from '../audit/tlog-checkpoint.js'
import { judge, readNote } from '../audit/note.js'
import { readVerifierKey, type NoteVerifier } from '../audit/note-key.js'
import { hashFile, inOwnDirectory } from '../basics/disk.js'
import { limits } from '../basics/limits.js'
import { openSandbox } from '../files/tables/parquet-writer.js'
import { sqlString } from '../files/tables/staged-table.js'
import { MerkleTree } from '../log/proof/merkle-tree.js'
import type { KeptHead } from '../log/verify/verify.js'
import { ConfigError } from '../setup/config.js'
import { isSigned, readArchiveManifest, readRangeManifest, type ArchiveManifest, type ArchiveRange } from './manifest.js'
import type { ArchiveStore } from './store.js'
import { archiveFolders, archiveTables, fieldColumns, fieldsOf, fileName, isInExport, rangeEnd, rangeOfFile, selectOf } from './tables.js'

/** What a check found: nothing wrong if `faults` is empty. `provenTo` is the newest position that a kept head proves. */
export type ArchiveCheck = { size: number; root: string; faults: string[]; provenTo: number }

type Check = {
  store: ArchiveStore
  heads: readonly KeptHead[]
  /** The keys that may sign. */
  trusted: readonly NoteVerifier[]
  onProgress?: (position: number) => void
  waitMs?: number
}

const lookMs = 200

const never = (): never => {
  throw new TypeError('a tree that is checked is read at its edge only')
}

/** The events of an export one after the other: their chain, their tree, and the kept heads at their sizes. */
class Walk {
  position = 0
  chain: Buffer
  provenTo = 0
  readonly #tree = MerkleTree.open({ get: never, put: () => undefined }, () => [], 0)

  constructor(
    private readonly heads: readonly KeptHead[],
    logId: string,
    private readonly fault: (what: string) => void,
  ) {
    this.chain = genesis(logId)
  }

  get root(): Buffer {
    return this.#tree.rootAt(this.position)
  }

  step(text: string): void {
    const leaf = leafHash(text)
    this.chain = chainLeaf(this.chain, leaf)
    this.#tree.append(leaf)
    this.position += 1
    for (const head of this.heads) if (head.position === this.position) this.#compare(head)
  }

  #compare(head: KeptHead): void {
    const same = 'chain' in head ? head.chain === this.chain.toString('hex') : head.root.equals(this.root)
    if (same) this.provenTo = this.position
    else this.fault(`position ${this.position}: the events up to here do not match the kept head`)
  }
}

/** The rows of a file. A folder like `day=2026-01-01` adds no column to them. */
const rowsOf = (path: string): string => `read_parquet(${sqlString(path)}, hive_partitioning = false)`

/** The columns as texts, then the text and the chain. */
const selectTexts = (path: string): string => {
  const columns = Object.entries(fieldColumns).map(([name, type]) =>
    type === 'TIMESTAMP' ? `strftime(${name}, '%Y-%m-%dT%H:%M:%S.%fZ')` : `CAST(${name} AS VARCHAR)`,
  )
  return `SELECT ${columns.join(', ')}, text, chain FROM ${rowsOf(path)}`
}

/** Walks the rows of a file of events. Throws when a row does not follow. */
const walkRows = async (connection: DuckDBConnection, path: string, walk: Walk): Promise<void> => {
  const result = await connection.stream(selectTexts(path))
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
    for (const row of chunk.getRows()) {
      const [text, chain] = row.slice(-2)
      if (typeof text !== 'string') throw new Error(`position ${walk.position + 1} has no text`)
      walk.step(text)
      if (chain !== walk.chain.toString('hex')) throw new Error(`position ${walk.position} breaks the chain`)
      const fields = fieldsOf(text)
      if (fields[0] !== String(walk.position)) throw new Error(`position ${walk.position} has the event of another position`)
      if (fields.some((value, i) => value !== row[i])) throw new Error(`position ${walk.position} has columns that differ from its text`)
    }
}

const differing = (table: 'predictions' | 'outcomes' | 'answers', events: string, rows: string): string => {
  const expected = selectOf(table, rowsOf(events))
  const found = `SELECT * FROM ${rowsOf(rows)}`
  return `SELECT (SELECT count(*) FROM ((${expected}) EXCEPT ALL (${found}))) + (SELECT count(*) FROM ((${found}) EXCEPT ALL (${expected})))`
}

/** Checks the files of one range, and throws the first fault. */
const checkRange = (store: ArchiveStore, range: ArchiveRange, walk: Walk): Promise<void> =>
  store.withFiles(range.files, (paths) => checkFiles(range, paths, walk))

const checkFiles = async (range: ArchiveRange, found: readonly (string | undefined)[], walk: Walk): Promise<void> => {
  const paths: Record<string, string> = {}
  for (const [i, { table, name, bytes, sha256 }] of range.files.entries()) {
    const path = found[i]
    if (path === undefined) throw new Error(`${name} is missing`)
    const entry = await lstat(path)
    if (!entry.isFile() || entry.size !== bytes || (await hashFile(path)) !== sha256) throw new Error(`${name} was changed`)
    paths[table] = path
  }
  await inOwnDirectory(tmpdir(), 'mindledger-check-', async (spill) => {
    const connection = await openSandbox(Object.values(paths), spill, limits.archiveMemoryBytes)
    try {
      await walkRows(connection, paths['events'] ?? '', walk)
      if (walk.position !== range.to || walk.chain.toString('hex') !== range.chain)
        throw new Error(`the events end at position ${walk.position}, not with the chain value of position ${range.to}`)
      for (const table of archiveTables) {
        const path = paths[table] ?? ''
        const [[rows] = []] = (await connection.runAndReadAll(`SELECT count(*) FROM ${rowsOf(path)}`)).getRows()
        const { name, rows: told } = range.files.find((file) => file.table === table) ?? { name: table, rows: -1 }
        if (Number(rows) !== told) throw new Error(`${name} has ${Number(rows)} rows instead of ${told}`)
        if (table === 'events') continue
        const [[others] = []] = (await connection.runAndReadAll(differing(table, paths['events'] ?? '', path))).getRows()
        if (Number(others) > 0) throw new Error(`${name} has rows that do not follow from its events`)
      }
    } finally {
      connection.closeSync()
    }
  })
}

/** The range after a position, from the export's manifest or from a manifest of its own. @throws Error that says what is wrong */
const rangeAfter = async (
  store: ArchiveStore,
  manifest: ArchiveManifest,
  walk: Walk,
  keys: readonly NoteVerifier[],
): Promise<ArchiveRange> => {
  const { log, size, range_positions: positions } = manifest
  const from = walk.position + 1
  const to = rangeEnd(walk.position, size, positions)
  const range =
    manifest.mindledger_parquet === 1
      ? manifest.ranges.find((one) => one.from >= from)
      : await readRangeManifest(store, { log, from, to, before: walk.chain.toString('hex'), keys })
  if (!range) throw new Error(`positions ${from} to ${size} are missing`)
  if (range.from !== from) throw new Error(`positions ${from} to ${range.from - 1} are missing: the ranges have a gap`)
  if (range.to !== to) throw new Error(`the range from position ${from} to ${range.to} does not have ${positions} positions`)
  const names = archiveTables.map((table) => fileName(table, from, to))
  if (range.files.length !== names.length || range.files.some(({ name, table }, i) => name !== names[i] || table !== archiveTables[i]))
    throw new Error(`the range from position ${from} to ${to} does not name its four files`)
  return range
}

/** A file that the manifest does not name. During an export, the manifest soon names the files of the next range. */
type UnlistedFile = { name: string; isNext: boolean }

const unlistedFiles = async (store: ArchiveStore, manifest: ArchiveManifest): Promise<UnlistedFile[]> => {
  const { size, range_positions: positions } = manifest
  const next = size - (size % positions) + 1
  const found: UnlistedFile[] = []
  for (const folder of manifest.mindledger_parquet === 1 ? archiveTables : archiveFolders)
    for (const name of (await store.list(folder)).keys()) {
      const range = rangeOfFile(folder, name)
      if (!range || !isInExport(range, size, positions)) found.push({ name: `${folder}/${name}`, isNext: range?.from === next })
    }
  return found
}

/** The manifest, and the files that it does not name even after the wait. */
const read = async (store: ArchiveStore, waitMs: number): Promise<{ manifest: ArchiveManifest; others: UnlistedFile[] }> => {
  for (let waited = 0; ; waited += lookMs) {
    const manifest = await readArchiveManifest(store)
    if (!manifest) throw new ConfigError(`${store.place} is not an export: it has no manifest.json`)
    const others = await unlistedFiles(store, manifest)
    if (!others.some(({ isNext }) => isNext) || waited >= waitMs) return { manifest, others }
    await sleep(lookMs)
  }
}

/** The faults of a manifest's signatures, of its head, and of the kept heads. */
const faultsIn = (manifest: ArchiveManifest, signers: readonly NoteVerifier[], heads: readonly KeptHead[]): string[] => {
  const { log, size } = manifest
  const faults: string[] = []
  const note = readNote(manifest.checkpoint)
  const checkpoint = note && readTlogCheckpoint(note.text)
  if (!isSigned(manifest, signers)) faults.push('the manifest is not signed by this key, or was changed')
  if (!note || !signers.some((signer) => judge(note, signer) === 'signed'))
    faults.push('the head in the manifest is not signed by this key')
  if (checkpoint?.origin !== originOf(log) || checkpoint.size !== size) faults.push('the head in the manifest does not belong to its size')
  for (const head of heads)
    if (head.logId !== log) faults.push(`the head of position ${head.position} belongs to another log`)
    else if (head.position > size) faults.push(`the head of position ${head.position} is newer than the export, which ends at ${size}`)
  return faults
}

/**
 * Checks an export without the log: signatures, hashes, ranges without a gap, the chain of events, rows that follow from events, and the
 * kept heads. Without trusted keys it takes the one in the manifest, which proves nothing against a person who can write the files. An
 * export may still run: for `waitMs` the check waits for a manifest that names all files.
 *
 * @throws ConfigError when there is no manifest
 * @example (await checkArchive({ store: new FolderStore('/mnt/history'), heads: [], trusted: [key] })).faults // []
 */
export const checkArchive = async ({ store, heads, trusted, onProgress, waitMs = 0 }: Check): Promise<ArchiveCheck> => {
  const { manifest, others } = await read(store, waitMs)
  const own = readVerifierKey(manifest.key)
  const signers = trusted.length > 0 || !own ? trusted : [own]
  const faults = faultsIn(manifest, signers, heads)
  const fault = (what: string): void => void faults.push(what)
  for (const { name } of others) fault(`${name} is not in the manifest`)
  const walk = new Walk(
    heads.filter(({ logId }) => logId === manifest.log),
    manifest.log,
    fault,
  )
  try {
    while (walk.position < manifest.size) {
      await checkRange(store, await rangeAfter(store, manifest, walk, signers), walk)
      onProgress?.(walk.position)
    }
    if (walk.chain.toString('hex') !== manifest.chain) fault('the events do not end in the chain value of the manifest')
    const root = readTlogCheckpoint(readNote(manifest.checkpoint)?.text ?? '')?.root
    if (!root?.equals(walk.root)) fault('the events do not match the head in the manifest')
  } catch (error) {
    // The place could not be read. That is not a fault of the export.
    if (error instanceof ConfigError) throw error
    fault(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error))
  }
  return { size: manifest.size, root: walk.root.toString('base64'), faults, provenTo: walk.provenTo }
}
