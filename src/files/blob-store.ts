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
  /** Moves a file into the store and returns its hash. */
  put(file: string): Promise<string>
  putBytes(bytes: Uint8Array): Promise<string>
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
