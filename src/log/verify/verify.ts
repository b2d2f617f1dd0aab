/**
 * Room: the check of a log: hashes, the tree, the meaning of events, and the stored resources. It imports only events, basics, setup,
 * vault, log/contract, log/storage and log/proof.
 */

import type { Head } from '../contract/log.js'
import { erasedInFile, type ErasedSince } from '../storage/erased-blobs.js'
import { lastPosition, openForReading, readLogId, type LogConnection } from '../storage/schema.js'
import { TreeCheck } from '../proof/stored-tree.js'
import { Findings, firstLine, inOrder, maxFindings, type Finding } from './findings.js'
import { HashChainCheck } from './hash-chain-check.js'
import { startSemanticCheck } from './semantic-check-thread.js'
import { checkSemantics, type SemanticReport } from './semantic-check.js'
import type { PayloadCounts } from './payload-check.js'

export type { Finding } from './findings.js'

/** A head of a log that is stored elsewhere: a position with the chain up to it, or with the root of the tree over its events. */
export type KeptHead = Head | { logId: string; position: number; root: Buffer }

export type Verification = {
  ok: boolean
  head: Head & { root: Buffer }
  /** The newest position up to which a head that is stored elsewhere proved that nothing was changed or removed. */
  provenTo: number | null
  findings: Finding[]
  payloads: PayloadCounts
  /** The time of the newest event; empty when there is none. */
  recordedAt: string
}

export type VerifyOptions = {
  logFile: string
  /** SHA-256 of a blob's bytes, or undefined when the blob does not exist. Called once for each blob that an event names. */
  blobHash?: (hash: string) => Promise<string | undefined>
  /** Given if the file may not know all erasures, because the file of a node may be behind. */
  erasedSince?: ErasedSince | undefined
  /** Master keys that wrap the payloads' keys. Without any, the check does not open payloads. */
  masterKeys?: readonly Uint8Array[]
  /** Heads that are stored elsewhere. */
  kept?: KeptHead | readonly KeptHead[]
  onProgress?: (position: number) => void
  /** The smallest number of events for which their meaning is checked in a separate thread, beside their hashes. */
  threadFrom?: number
}

/** A thread takes about 0.1 s to start. In this time a single thread checks as many events. */
const worthAThread = 20_000

/**
 * Checks a log from its first event: no gap, no edit, and correct data in everything that follows from it. Works with or without a running
 * server. Two walks run side by side over the content of the file at the start: one over the bytes (chain, tree, heads), one over the
 * meaning (envelopes, states, payloads).
 *
 * @example (await verifyLog({ logFile: 'data/log.sqlite' })).ok
 */
export const verifyLog = async (options: VerifyOptions): Promise<Verification> => {
  const { logFile, masterKeys = [], blobHash, onProgress, threadFrom = worthAThread } = options
  const { erasedSince = async (position) => erasedMeanwhile(logFile, position) } = options
  const progress = progressOf(onProgress)
  const db = openForReading(logFile)
  let thread: Awaited<ReturnType<typeof startSemanticCheck>> | undefined
  try {
    if (lastPosition(db) >= threadFrom) thread = await startSemanticCheck(logFile, masterKeys, progress.semantics)
    // The last position of the thread is known before this snapshot begins, so the snapshot has all its events.
    db.exec('BEGIN')
    const walked = new Findings()
    const following = new Findings()
    // Both walks end at the same position. Neither has later events.
    const bytes = await checkBytes(db, thread?.until ?? Infinity, [options.kept ?? []].flat(), walked, progress.bytes)
    if (thread) checkPages(db, following)
    const semantics = await (thread?.done ?? checkSemantics(db, masterKeys, progress.semantics))
    if (!thread) checkPages(db, following)
    if (blobHash) await checkBlobs(semantics, following, blobHash, () => erasedSince(bytes.head.position))
    const all = [...inOrder(walked.all, semantics.events), ...semantics.following, ...following.all].slice(0, maxFindings)
    return { ok: all.length === 0, ...bytes, findings: all, payloads: semantics.payloads, recordedAt: semantics.recordedAt }
  } finally {
    db.close()
    await thread?.stop()
  }
}

const progressEvents = 100_000

/** Reports the progress of both walks from time to time. */
const progressOf = (tell: ((position: number) => void) | undefined) => {
  const at = { bytes: 0, semantics: 0 }
  let told = 0
  const reach = (walk: keyof typeof at) => (position: number) => {
    at[walk] = position
    const both = Math.min(at.bytes, at.semantics)
    if (both < told + progressEvents) return
    told = both - (both % progressEvents)
    tell?.(told)
  }
  return { bytes: reach('bytes'), semantics: reach('semantics') }
}

/** Walks over the bytes: chain, tree, and the heads that are stored elsewhere. */
const checkBytes = async (
  db: LogConnection,
  until: number,
  kept: readonly KeptHead[],
  findings: Findings,
  onProgress: (position: number) => void,
): Promise<Pick<Verification, 'head' | 'provenTo'>> => {
  const logId = readLogId(db)
  const heads = new KeptHeads(logId, kept, findings)
  const tree = new TreeCheck(db, (position, what) => findings.add(position, what))
  checkBeforeFirst(db, findings)
  const hashes = new HashChainCheck(db, logId, findings, (position, leaf, chain) => {
    tree.step(leaf)
    heads.compare(position, chain, tree)
    if (position % 1_024 === 0) onProgress(position)
  })
  heads.compare(0, hashes.chain, tree)
  await hashes.walk(until)
  onProgress(hashes.position)
  heads.finish(hashes.position)
  tree.finish()
  return { head: { logId, position: hashes.position, chain: hashes.chain.toString('hex'), root: tree.root() }, provenTo: heads.provenTo }
}

/** The heads that are stored elsewhere. Each is compared when the walk reaches its position. */
class KeptHeads {
  provenTo: number | null = null
  readonly #waiting: KeptHead[]

  constructor(
    private readonly logId: string,
    kept: readonly KeptHead[],
    private readonly findings: Findings,
  ) {
    this.#waiting = [...kept].sort((a, b) => a.position - b.position)
  }

  compare(position: number, chain: Buffer, tree: TreeCheck): void {
    for (let [head] = this.#waiting; head?.position === position; [head] = this.#waiting) {
      this.#waiting.shift()
      const agrees = 'root' in head ? head.root.equals(tree.root()) : head.chain === chain.toString('hex')
      if (head.logId !== this.logId) this.#foreign(head)
      else if (agrees) this.provenTo = position
      else
        this.findings.add(
          position,
          `the ${'root' in head ? 'root' : 'chain'} differs from the head that was kept: the history before it was changed`,
        )
    }
  }

  finish(end: number): void {
    for (const head of this.#waiting)
      if (head.logId !== this.logId) this.#foreign(head)
      else if (head.position > end)
        this.findings.add(end + 1, `missing: the head that was kept has position ${head.position}, the log ends at ${end}`)
  }

  #foreign({ logId }: KeptHead): void {
    this.findings.add(null, `the head that was kept belongs to another log (${logId})`)
  }
}

/** No walk would find a row before position 1, but the versions of its stream count it. */
const checkBeforeFirst = (db: LogConnection, findings: Findings): void => {
  try {
    for (const { position } of db.prepare<[], { position: number }>('SELECT position FROM events WHERE position < 1 LIMIT 10').all())
      findings.add(position, 'the log begins at position 1')
  } catch (error) {
    findings.add(null, `the beginning cannot be read: ${firstLine(error)}`)
  }
}

const checkBlobs = async (
  { blobs }: SemanticReport,
  findings: Findings,
  blobHash: (hash: string) => Promise<string | undefined>,
  erasedSince: () => Promise<ReadonlySet<string>>,
): Promise<void> => {
  const wrong: { hash: string; position: number; isMissing: boolean }[] = []
  for (const [hash, position] of blobs) {
    const found = await blobHash(hash)
    if (found !== hash) wrong.push({ hash, position, isMissing: found === undefined })
  }
  const erased = wrong.some(({ isMissing }) => isMissing) ? await erasedSince() : new Set<string>()
  for (const { hash, position, isMissing } of wrong)
    if (!isMissing) findings.add(position, `its blob ${hash} has other content`)
    else if (!erased.has(hash)) findings.add(position, `its blob ${hash} is missing`)
}

/** The blobs that the service beside this check erased after a position; none if a damaged file cannot be read that far. */
const erasedMeanwhile = (logFile: string, position: number): ReadonlySet<string> => {
  try {
    return erasedInFile(logFile, position)
  } catch {
    return new Set()
  }
}

/** SQLite's own checks of its pages and indexes. */
const checkPages = (db: LogConnection, findings: Findings): void => {
  try {
    const rows = db.pragma('integrity_check(10)') as { integrity_check: string }[]
    for (const { integrity_check: said } of rows) if (said !== 'ok') findings.add(null, `the file is damaged: ${said}`)
  } catch (error) {
    findings.add(null, `the file is damaged: ${firstLine(error)}`)
  }
}
