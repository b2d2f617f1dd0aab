import { readHeads } from '../../audit/kept-heads.js'
import { readVerifierKey, type NoteVerifier } from '../../audit/note-key.js'
import type { Config } from '../../setup/config.js'
import { hashFile } from '../../basics/disk.js'
import { isProblem } from '../../basics/errors.js'
import { holding } from '../../files/blob-store.js'
import { isBlobDamaged } from '../../files/shared/problems.js'
import { checkDataDirectory, type DataPaths } from '../../setup/data-directory.js'
import { openForReading, readHeadKeys } from '../../log/storage/schema.js'
import { syncWalOf } from '../../log/storage/wal-file.js'
import { verifyLog, type Verification } from '../../log/verify/verify.js'
import { recordedAhead } from '../../basics/trusted-clock.js'
import type { Output } from '../terminal/output.js'
import { withBlobs, type ReadBlobs } from '../access/blobs-at-rest.js'
import { ownMasterKeys } from '../access/own-keys.js'
import { headFault, readVkeys } from '../access/verifier-key.js'

export type VerifyOptions = {
  /** Files with heads that were kept elsewhere. */
  heads: readonly string[]
  /** The verifier key that must have signed the heads, or a file with several such keys; by default the keys that the log itself notes. */
  vkey: string | undefined
  /** The last position of an earlier copy of the log: newer heads prove nothing about it. */
  upTo?: number
  /** The directory with the master key's file, if it is not the log's own. */
  keysIn?: DataPaths
}

/** The keys that may sign a head: the given ones, or those that the log itself notes. */
const keysOf = (logFile: string, vkey: string | undefined): NoteVerifier[] => {
  if (vkey !== undefined) return readVkeys(vkey)
  const db = openForReading(logFile)
  try {
    return readHeadKeys(db).flatMap((noted) => readVerifierKey(noted) ?? [])
  } finally {
    db.close()
  }
}

/** The hash of a blob's bytes; undefined if there is no blob. */
const hashIn =
  (blobs: ReadBlobs) =>
  async (sha: string): Promise<string | undefined> => {
    if (!(await blobs.has(sha))) return undefined
    try {
      return await holding(blobs, async (fileOf) => hashFile(await fileOf(sha)))
    } catch (error) {
      // A store that checks its contents never returns a damaged one.
      if (isProblem(error) && isBlobDamaged(error)) return 'other bytes'
      // An erasure may have removed it since.
      if (!(await blobs.has(sha))) return undefined
      throw error
    }
  }

/** `mindledger verify [--head file]…`: verifies the whole log; exit status 0 only when everything is consistent. */
export const verify = async (
  config: Config,
  { heads: files, vkey, upTo = Infinity, keysIn }: VerifyOptions,
  out: Output,
): Promise<number> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const heads = files.flatMap(readHeads)
  const keys = keysOf(paths.log, vkey)
  const faults = heads.flatMap((read) => {
    const fault = headFault(read, keys)
    return fault === undefined ? [] : [`the head of position ${read.head.position} proves nothing: ${fault}`]
  })
  const newer = heads.filter(({ head }) => head.position > upTo)
  const result = await withBlobs(config, paths, (blobs, erasedSince) =>
    verifyLog({
      logFile: paths.log,
      masterKeys: ownMasterKeys(config, keysIn ?? paths, paths.log),
      blobHash: hashIn(blobs),
      erasedSince,
      onProgress: (position) => out.progress(`${position} events`),
      kept: heads.filter((read) => !newer.includes(read) && headFault(read, keys) === undefined).map(({ head }) => head),
    }),
  )
  await syncWalOf(paths.log)
  for (const fault of faults) out.line(fault)
  for (const { position, what } of result.findings) out.line(position === null ? what : `position ${position}: ${what}`)
  const ok = result.ok && faults.length === 0
  const { position, root } = result.head
  out.line(`${ok ? 'The log holds' : 'THE LOG DOES NOT HOLD'}: ${position} events, root ${root.toString('base64')}`)
  const { readable, erased, erasedLater } = result.payloads
  out.line(`payloads: ${readable} readable, ${erased} erased`)
  if (erasedLater > 0)
    out.line(`Note: this node is behind the others. Payloads that were erased in events which it does not have yet: ${erasedLater}.`)
  for (const line of provenPart(result)) out.line(line)
  const ahead = recordedAhead(Date.parse(result.recordedAt), Date.now())
  if (ahead !== undefined) out.line(`Note: ${ahead}. See "A wrong clock" in docs/operate/running.md.`)
  const newest = Math.max(...newer.map(({ head: kept }) => kept.position))
  if (newer.length > 0) out.line(`Heads up to position ${newest} were kept, too: what came after position ${upTo} is not in this copy.`)
  return ok ? 0 : 1
}

/** Says which part is proven and which is not: consistent events may still have been rewritten together. */
const provenPart = ({ provenTo, head: { position } }: Verification): string[] => {
  if (position === 0) return []
  if (provenTo === null || provenTo === 0)
    return [
      `Unproven: positions 1 to ${position}. They are consistent, but a person who can write the file can also make it consistent: compare with a head kept elsewhere (--head <file>).`,
    ]
  const proven = `Proven: positions 1 to ${provenTo}, by the head that was kept.`
  return provenTo < position
    ? [proven, `Unproven: positions ${provenTo + 1} to ${position}, which are newer than all kept heads.`]
    : [proven]
}
