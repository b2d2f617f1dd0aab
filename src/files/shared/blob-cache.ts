import { renameSync, rmSync } from 'node:fs'
import { access, mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFull, errorCode } from '../../basics/errors.js'
import { freeBytes, moveFile, partialFileIn, sync } from '../../basics/disk.js'
import type { HeldBlob } from '../blob-store.js'
import { blobPath, isBlobName } from '../blobs.js'
import { noBlob } from './problems.js'

/** `users` counts the holders of the file. */
type Entry = { bytes: number; users: number }

/** The bounds of a cache: the bytes of its files, and the bytes of the disk that it leaves free. */
export type CacheBounds = { maxBytes: number; keepFree: number; freeOnDisk?: (directory: string) => number }

/**
 * Files of blobs on this machine, up to a limit of bytes, and no more than the disk has room for beside the log. Files that were used least
 * recently are removed first, and held files are never removed. If all files are held, there may be more bytes than the limit.
 *
 * @example
 * const cache = await BlobCache.open('/data/blobs', { maxBytes: 20 * 2 ** 30, keepFree: 2 ** 30 })
 * const held = cache.hold(sha) ?? (await cache.take(file, sha))
 */
export class BlobCache {
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  /** The bytes of files on their way in. */
  #incoming = 0

  private constructor(
    private readonly directory: string,
    private readonly bounds: CacheBounds,
  ) {}

  /** Takes in the files that an earlier process left. No other process may use the directory. */
  static async open(directory: string, bounds: CacheBounds): Promise<BlobCache> {
    const cache = new BlobCache(directory, bounds)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const found: { sha: string; bytes: number; usedAt: number }[] = []
    for (const name of await readdir(directory)) {
      const path = join(directory, name)
      if (!isBlobName(name)) await rm(path, { recursive: true, force: true })
      else {
        const { size, mtimeMs } = await stat(path)
        found.push({ sha: name, bytes: size, usedAt: mtimeMs })
      }
    }
    for (const { sha, bytes } of found.sort((one, other) => one.usedAt - other.usedAt)) cache.#add(sha, bytes)
    cache.shrink()
    return cache
  }

  /** The blobs that are here. */
  get names(): string[] {
    return [...this.#entries.keys()]
  }

  /** The bytes of all files. */
  get bytes(): number {
    return this.#bytes
  }

  /** Holds an existing file. */
  hold(sha: string): HeldBlob | undefined {
    const entry = this.#entries.get(sha)
    if (!entry) return undefined
    const file = this.path(sha)
    entry.users += 1
    this.#entries.delete(sha)
    this.#entries.set(sha, entry)
    // The next process finds the order by these times.
    const now = new Date()
    void utimes(file, now, now).catch(() => undefined)
    let isHeld = true
    const release = () => {
      if (!isHeld) return
      isHeld = false
      entry.users -= 1
      this.shrink()
    }
    return { file, release }
  }

  /** The path of a blob, whether it exists or not. */
  path(sha: string): string {
    return blobPath(this.directory, sha)
  }

  has(sha: string): boolean {
    return this.#entries.has(sha)
  }

  /** Whether a file is still there; somebody may have cleaned up the directory. A file that is gone is forgotten. */
  async isThere(sha: string): Promise<boolean> {
    if (!this.#entries.has(sha)) return false
    try {
      await access(this.path(sha))
      // It may have been removed since.
      return this.#entries.has(sha)
    } catch {
      this.drop(sha)
      return false
    }
  }

  /** A path for a file on its way in. */
  temporary(): string {
    return partialFileIn(this.directory)
  }

  /**
   * Makes room for a file on its way in. The returned function takes the number of bytes that the disk has by now; without one it has all.
   * @throws Problem disk_full when the file would take the part of the disk that is left to the log
   */
  reserve(bytes: number): (written?: number) => void {
    let left = bytes
    const arrived = (written = left) => {
      const less = Math.min(left, written)
      left -= less
      this.#incoming -= less
    }
    this.#incoming += bytes
    this.shrink()
    if (this.#lacking <= 0) return arrived
    arrived()
    throw diskFull(`less than ${this.bounds.keepFree} bytes would be free, which are left to the log (blobCacheFreeMinBytes)`)
  }

  /**
   * Moves a complete file in, and holds it. It replaces a file that is there, which the disk may have spoiled. After a crash of the
   * machine, the file has all of its bytes or does not exist. A blob that `isGone` by then is not taken in, not even for a moment.
   * @throws Problem not_found when it is gone
   */
  async take(file: string, sha: string, isGone: () => boolean = () => false): Promise<HeldBlob> {
    const { size } = await stat(file)
    await sync(file)
    if (isGone()) throw noBlob(sha)
    try {
      // No other code runs between this check and the entry.
      renameSync(file, this.path(sha))
    } catch (error) {
      if (errorCode(error) !== 'EXDEV') throw error
      const near = this.temporary()
      try {
        await moveFile(file, near)
        return await this.take(near, sha, isGone)
      } finally {
        // The file still exists if the blob was erased meanwhile.
        await rm(near, { force: true })
      }
    }
    this.#add(sha, size)
    const held = this.hold(sha)
    if (!held) throw new TypeError('a file that was just taken in is there')
    this.shrink()
    return held
  }

  /** Removes a file, even if it is held. Synchronous: when it returns, the file is gone. */
  drop(sha: string): void {
    const entry = this.#entries.get(sha)
    rmSync(this.path(sha), { force: true })
    if (!entry) return
    this.#entries.delete(sha)
    this.#bytes -= entry.bytes
  }

  #add(sha: string, bytes: number): void {
    const entry = this.#entries.get(sha) ?? { bytes: 0, users: 0 }
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    this.#entries.set(sha, entry)
  }

  /** How many bytes the disk has too few, with the files that are on their way in. */
  get #lacking(): number {
    const { keepFree, freeOnDisk = freeBytes } = this.bounds
    return keepFree === 0 ? 0 : keepFree + this.#incoming - freeOnDisk(this.directory)
  }

  /** Removes what is too much: beyond the limit, or because the disk has become full. */
  shrink(): void {
    const toBytes = Math.min(Math.max(0, this.bounds.maxBytes - this.#incoming), this.#bytes - Math.max(0, this.#lacking))
    if (this.#bytes <= toBytes) return
    for (const [sha, { users }] of this.#entries) {
      if (users === 0) this.drop(sha)
      if (this.#bytes <= toBytes) return
    }
  }
}
