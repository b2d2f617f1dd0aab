import { isProblem, Problem, type ProblemCode } from '../basics/errors.js'

/** The file of a blob. It stays where it is until it is released, unless the blob is erased. */
export type HeldBlob = { file: string; release: () => void }

/**
 * Files named by the SHA-256 of their bytes. Each is whole and safely stored before its name is returned, so an event may name it.
 * Equal bytes are one blob, however often they are put.
 *
 * @example
 * const sha = await blobs.putBytes(Buffer.from('abc')) // 'ba7816bf…'
 * await blobs.read(sha) // <Buffer 61 62 63>
 */
export interface BlobStore {
  /** Where the blobs are, in words: `the data directory`. */
  readonly place: string
  /** Whether every blob has its file on this machine. If not, a file is here only while it is held. */
  readonly isLocal: boolean
  /** Moves a file into the store and returns its hash. @throws ErasedWhileStored */
  put(file: string): Promise<string>
  /** @throws ErasedWhileStored */
  putBytes(bytes: Uint8Array): Promise<string>
  /**
   * Takes back the last put of a blob whose event will not come: its bytes are removed if no event names them and nobody else has put them.
   * If that is not known, they stay until blobs that nobody needs are removed.
   */
  giveUp(sha: string): Promise<void>
  has(sha: string): Promise<boolean>
  /** Keeps the file of a blob on this machine until it is released. @throws Problem not_found, storage_failed */
  hold(sha: string): Promise<HeldBlob>
  /** A blob's bytes, checked against its name. @throws Problem not_found, storage_failed */
  read(sha: string): Promise<Buffer>
  /**
   * Removes the files of blobs before it returns, and resolves when the disk has done it; only where every blob has its file on this
   * machine.
   */
  drop?(shas: readonly string[]): Promise<void>
  /** Whether bytes of an erased blob are still kept somewhere, even if nobody can read them any more. */
  isLeft(sha: string): Promise<boolean>
  /**
   * Removes the remains of a blob that was erased at a time (`2026-01-31T10:00:00.500000Z`). If it was put again since, it stays, because
   * its event may be on its way; `isNamed` says that a later event names it. Resolves with whether something was removed.
   */
  removeErased(sha: string, erasedAt: string, isNamed: boolean): Promise<boolean>
  /** The hashes of all blobs, sorted. */
  list(): Promise<string[]>
}

/** The refusal of bytes that were erased while they were stored. The same request stores them anew. */
export class ErasedWhileStored extends Problem {
  constructor() {
    super('busy', 'Erased meanwhile', 'the same bytes were erased while they were stored', {
      hint: 'Send the request again.',
      retryAfterSeconds: 1,
    })
  }
}

/** After these errors, an event may have been recorded all the same. */
const undecided: ReadonlySet<ProblemCode> = new Set(['storage_failed', 'outcome_unknown', 'behind', 'internal'])

/**
 * Executes a command that names blobs which were put for it. If it is refused or records nothing, the puts are given up.
 *
 * @example const outcome = await naming(blobs, [content], () => ledger.execute(command, origin))
 */
export const naming = async <T extends { positions: readonly number[] }>(
  blobs: Pick<BlobStore, 'giveUp'>,
  shas: readonly string[],
  execute: () => Promise<T>,
): Promise<T> => {
  // What cannot be removed now is removed later, with all blobs that nobody needs.
  const giveUp = () => Promise.all(shas.map((sha) => blobs.giveUp(sha).catch(() => undefined)))
  try {
    const outcome = await execute()
    if (outcome.positions.length === 0) await giveUp()
    return outcome
  } catch (error) {
    if (isProblem(error) && !undecided.has(error.code)) await giveUp()
    throw error
  }
}

/** The path of a blob, which is held as long as the work goes on. @throws Problem not_found, storage_failed */
export type FileOf = (sha: string) => Promise<string>

/**
 * Runs work that reads the files of blobs; the requested files stay until the work ends.
 *
 * @example await holding(blobs, async (fileOf) => hashFile(await fileOf(sha)))
 */
export const holding = async <T>(blobs: Pick<BlobStore, 'hold'>, work: (fileOf: FileOf) => Promise<T>): Promise<T> => {
  const held: HeldBlob[] = []
  try {
    return await work(async (sha) => {
      const blob = await blobs.hold(sha)
      held.push(blob)
      return blob.file
    })
  } finally {
    for (const { release } of held) release()
  }
}
