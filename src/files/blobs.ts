/**
 * Room: contents under their hashes, and the way of an upload. It imports only events, basics, log, files/tables, files/formats and
 * files/ingest.
 */

import { createHash } from 'node:crypto'
import { existsSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { access, mkdir, open, readdir, readFile, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasHash, hashFile, moveFile, partialFileIn, sync } from '../basics/disk.js'
import { errorCode, Problem, wrong } from '../basics/errors.js'
import { ErasedWhileStored, type BlobStore, type HeldBlob } from './blob-store.js'

const shaPattern = /^[0-9a-f]{64}$/
const unnamedSuffix = '.unnamed'

/** Whether the name of a file can be that of a blob: the 64 hexadecimal digits of its SHA-256, in lower case. */
export const isBlobName = (name: string): boolean => shaPattern.test(name)

/** The path of a blob in a folder. Refuses anything but a hash, so that no other path can result. */
export const blobPath = (directory: string, sha: string): string => {
  if (!isBlobName(sha)) throw wrong('A blob is named by the 64 hexadecimal digits of its SHA-256, in lower case.')
  return join(directory, sha)
}

const isMissing = (error: unknown) => errorCode(error) === 'ENOENT'

const missing = (sha: string): Problem => new Problem('not_found', 'Blob not found', `Blob ${sha} does not exist`)

/**
 * The blobs of one process, in a folder. Each is whole and on the disk before its name is returned.
 *
 * @example const blobs = new Blobs('/data/blobs')
 */
export class Blobs implements BlobStore {
  readonly place = 'the data directory'
  readonly isLocal = true
  /** The blobs that this process has put or is putting: an event that names them may be under way. */
  readonly #put = new Set<string>()
  /** Those of `#put` that no known event names yet, with the number of their puts. */
  readonly #waiting = new Map<string, number>()
  /** Those of `#put` that were not there before, and that no known event names yet. */
  readonly #added = new Set<string>()
  /** The number of drops, and which of them was the last one of each blob. */
  #drops = 0
  readonly #dropped = new Map<string, number>()

  constructor(private readonly directory: string) {}

  /** The path of a blob, whether it exists or not. */
  path(sha: string): string {
    return blobPath(this.directory, sha)
  }

  /** Moves a file into the store and returns its hash. @throws ErasedWhileStored */
  async put(file: string): Promise<string> {
    const began = this.#drops
    const sha = await hashFile(file)
    await this.#keep(sha, began, (isWhole, check) => (isWhole ? unlink(file) : this.move(file, sha, check)))
    return sha
  }

  /** @throws ErasedWhileStored */
  async putBytes(bytes: Uint8Array): Promise<string> {
    const began = this.#drops
    const sha = createHash('sha256').update(bytes).digest('hex')
    await this.#keep(sha, began, async (isWhole, check) => {
      if (isWhole) return
      const file = await this.temporary()
      try {
        const handle = await open(file, 'wx', 0o600)
        try {
          await handle.writeFile(bytes)
        } finally {
          await handle.close()
        }
        await this.move(file, sha, check)
      } finally {
        await rm(file, { force: true })
      }
    })
    return sha
  }

  /**
   * Brings the bytes of a blob to their place, and makes them durable. `began` is the number of drops when the put began: if a later one
   * was of this blob, `check` throws.
   */
  async #keep(sha: string, began: number, bring: (isWhole: boolean, check: () => void) => Promise<void>): Promise<void> {
    const check = () => {
      if ((this.#dropped.get(sha) ?? 0) > began) throw new ErasedWhileStored()
    }
    this.#put.add(sha)
    this.#waiting.set(sha, (this.#waiting.get(sha) ?? 0) + 1)
    try {
      await bring(await this.#isWhole(sha), check)
      // Another put may have just created the name without having synced it.
      await sync(this.directory)
      check()
    } catch (error) {
      await this.giveUp(sha)
      throw error
    }
  }

  async giveUp(sha: string): Promise<void> {
    const others = (this.#waiting.get(sha) ?? 0) - 1
    if (others > 0) this.#waiting.set(sha, others)
    else if (this.#waiting.delete(sha) && this.#added.has(sha) && this.#unlink(sha)) await sync(this.directory)
  }

  async has(sha: string): Promise<boolean> {
    return access(this.path(sha)).then(
      () => true,
      () => false,
    )
  }

  /** Whether a blob exists and has its bytes. One that the disk has spoiled is replaced by the next put. */
  #isWhole(sha: string): Promise<boolean> {
    return hasHash(this.path(sha), sha)
  }

  async hold(sha: string): Promise<HeldBlob> {
    if (await this.has(sha)) return { file: this.path(sha), release: () => undefined }
    throw missing(sha)
  }

  /** A blob's bytes, checked against its name. Throws `not_found`, or `storage_failed` when the disk has spoiled it. */
  async read(sha: string): Promise<Buffer> {
    const bytes = await readFile(this.path(sha)).catch((error: unknown) => {
      throw isMissing(error) ? missing(sha) : error
    })
    if (createHash('sha256').update(bytes).digest('hex') === sha) return bytes
    throw new Problem('storage_failed', 'Blob damaged', `The bytes of blob ${sha} are not those that were stored.`, {
      hint: 'Restore it from a backup, or store the content again.',
    })
  }

  /** Whether the blob existed. */
  async remove(sha: string): Promise<boolean> {
    const existed = this.#unlink(sha)
    if (existed) await sync(this.directory)
    return existed
  }

  async drop(shas: readonly string[]): Promise<void> {
    for (const sha of shas) {
      this.#dropped.set(sha, ++this.#drops)
      // A put from before the erasure must not give up the bytes of a later one.
      this.#waiting.set(sha, Infinity)
    }
    const existed = shas.filter((sha) => this.#unlink(sha))
    if (existed.length > 0) await sync(this.directory)
  }

  /** Synchronous, so that no put can find the file and then lose it. Returns whether the blob existed. */
  #unlink(sha: string): boolean {
    this.#added.delete(sha)
    rmSync(this.#mark(sha), { force: true })
    try {
      unlinkSync(this.path(sha))
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
    return true
  }

  isLeft(sha: string): Promise<boolean> {
    return this.has(sha)
  }

  /** Blobs that this process has put stay. */
  async removeErased(sha: string, _erasedAt: string, isNamed: boolean): Promise<boolean> {
    return !isNamed && !this.#put.has(sha) && (await this.remove(sha))
  }

  /** Whether this process has put a blob that no known event names yet. */
  waits(sha: string): boolean {
    return this.#waiting.has(sha)
  }

  /** Notes that an event names a blob: it is no longer taken for an orphan. */
  named(sha: string): void {
    this.#waiting.delete(sha)
    this.#added.delete(sha)
    rmSync(this.#mark(sha), { force: true })
  }

  /**
   * The blobs that no event was known to name when the process that put them ended, and those of this process that still wait for their
   * event.
   */
  async unnamed(): Promise<string[]> {
    return (await this.#names()).filter((name) => name.endsWith(unnamedSuffix)).map((name) => name.slice(0, -unnamedSuffix.length))
  }

  /** A file beside the blob. It is created before the blob, and exists until an event names it. */
  #mark(sha: string): string {
    return this.path(sha) + unnamedSuffix
  }

  /** Removes a blob that this process has not put. */
  removeUnlessPut(sha: string): boolean {
    if (this.#put.has(sha)) return false
    this.#unlink(sha)
    return true
  }

  /** The hashes of all blobs, sorted. */
  async list(): Promise<string[]> {
    return (await this.#names()).filter(isBlobName).sort()
  }

  #names(): Promise<string[]> {
    return readdir(this.directory).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
  }

  private async temporary(): Promise<string> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    return partialFileIn(this.directory)
  }

  /** The mark is there before the name. A name that is there already keeps its meaning: the disk has spoiled its bytes. */
  private async move(file: string, sha: string, check: () => void): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    await moveFile(file, this.path(sha), () => {
      check()
      if (existsSync(this.path(sha))) return
      this.#added.add(sha)
      writeFileSync(this.#mark(sha), '', { mode: 0o600 })
    })
  }
}
