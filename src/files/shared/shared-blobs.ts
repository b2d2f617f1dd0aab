/** Room: the contents of nodes that share a log, in PostgreSQL or in S3. It imports only events, basics, setup, egress, log and files. */

import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { hashFile } from '../../basics/disk.js'
import { isProblem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { ErasedWhileStored, type BlobStore, type HeldBlob } from '../blob-store.js'
import type { BlobCache } from './blob-cache.js'
import type { Objects } from './objects.js'
import { blobDamaged, isBlobDamaged, noBlob } from './problems.js'
import type { DoomedObject, PutBlob, Register, RegisteredBlob } from './register.js'

type Options = {
  register: Register
  cache: BlobCache
  /** The places that may have bytes. New bytes go to the first place. */
  places: readonly [Objects, ...Objects[]]
}

const firstPutsMax = 10_000

/** A blob on its way to this machine, in a file of its own until it is whole; `isGone` when it was erased meanwhile. */
type BlobDownload = { arrived: Promise<void>; file: string; isGone: boolean }

/**
 * Blobs that all nodes of a log share. The register lists them, one or more places have their bytes, and the folder of this node is a
 * cache. Before the name of a blob is returned, all its bytes are stored, and it is in the register.
 *
 * @example const blobs = new SharedBlobs({ register, cache, places: [new PostgresObjects(connections)] })
 */
export class SharedBlobs implements BlobStore {
  readonly place = 'the shared store'
  readonly isLocal = false
  readonly #fetching = new Map<string, BlobDownload>()
  /**
   * The times when blobs were erased, as far as this node follows the log. It never returns a blob that was put before, even if its bytes
   * still exist.
   */
  readonly #erased = new Map<string, string>()

  /** The blobs that this node was the first to put, and that it has not put again since. Those beyond are collected by their age. */
  readonly #first = new LRUCache<string, PutBlob>({ max: firstPutsMax })

  constructor(private readonly options: Options) {}

  /** @throws ErasedWhileStored; Problem storage_failed */
  async put(file: string): Promise<string> {
    const sha = await hashFile(file)
    const erasedAt = this.#erased.get(sha)
    const isGone = () => this.#erased.get(sha) !== erasedAt
    // What this node has, the shared store may only have lost.
    const wasHere = this.options.cache.has(sha)
    const put = await this.keep(file, sha)
    if (put && !wasHere) this.#first.set(sha, put)
    try {
      ;(await this.options.cache.take(file, sha, isGone)).release()
    } catch (error) {
      await this.giveUp(sha).catch(() => undefined)
      throw isGone() ? new ErasedWhileStored() : error
    }
    return sha
  }

  async putBytes(bytes: Uint8Array): Promise<string> {
    const file = this.options.cache.temporary()
    try {
      await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
      return await this.put(file)
    } finally {
      await rm(file, { force: true })
    }
  }

  /**
   * Stores a file whose hash is known, and leaves it where it is. A blob that a reader found damaged is replaced. Returns the blob if it
   * was not there before.
   *
   * @throws ErasedWhileStored; Problem storage_failed
   */
  async keep(file: string, sha: string): Promise<PutBlob | undefined> {
    const { register } = this.options
    const erasedAt = this.#erased.get(sha)
    this.#first.delete(sha)
    if (await register.touch(sha, erasedAt)) return undefined
    const [objects] = this.options.places
    const id = randomUUID()
    const { size: bytes } = await stat(file)
    await register.begin(id, sha, objects.place)
    try {
      await objects.write({ id, sha, bytes }, file)
      await register.eraseDamaged(sha)
      const put = await register.complete(id, sha, bytes, erasedAt)
      if (put === undefined) throw new ErasedWhileStored()
      if (put.object === id) return put
      // Another node was quicker: its bytes are the same.
      await this.#leave({ object: id, place: objects.place })
      return undefined
    } catch (error) {
      // Bytes that stay behind are collected later, by their age.
      await this.#leave({ object: id, place: objects.place }).catch(() => undefined)
      throw error
    }
  }

  /** If another node has put it, or this node again, it stays until it is collected by its age. */
  async giveUp(sha: string): Promise<void> {
    const put = this.#first.get(sha)
    this.#first.delete(sha)
    const doomed = put ? await this.options.register.eraseGivenUp(sha, put) : []
    if (doomed.length > 0) this.forget(sha)
    await this.removeObjects(doomed)
  }

  async #leave(object: DoomedObject): Promise<void> {
    // If the answer to its completion was lost, it may be a blob by now.
    if (await this.options.register.doom(object.object)) await this.#removeObject(object)
  }

  async has(sha: string): Promise<boolean> {
    // Refuses a name that is not a hash.
    this.options.cache.path(sha)
    return (await this.options.cache.isThere(sha)) || (await this.#find(sha)) !== undefined
  }

  /** A blob in the register, unless it was put before its erasure. */
  #find(sha: string): Promise<RegisteredBlob | undefined> {
    return this.options.register.find(sha, this.#erased.get(sha))
  }

  async hold(sha: string): Promise<HeldBlob> {
    const { cache } = this.options
    if (await cache.isThere(sha)) {
      const held = cache.hold(sha)
      if (held) return held
    }
    const fetching = this.#fetching.get(sha) ?? this.#begin(sha)
    await fetching.arrived
    // It stays until all waiting callers have taken it.
    const held = fetching.isGone ? undefined : cache.hold(sha)
    if (held) return held
    throw noBlob(sha)
  }

  #begin(sha: string): BlobDownload {
    const fetching: BlobDownload = { arrived: Promise.resolve(), file: this.options.cache.temporary(), isGone: false }
    fetching.arrived = this.#fetch(sha, fetching)
      // The waiting callers go on before it is released.
      .then(({ release }) => void setImmediate(release))
      .finally(() => this.#fetching.delete(sha))
    this.#fetching.set(sha, fetching)
    return fetching
  }

  async #fetch(sha: string, fetching: BlobDownload): Promise<HeldBlob> {
    const { cache } = this.options
    cache.path(sha)
    const found = await this.#find(sha)
    if (!found) throw noBlob(sha)
    const arrived = cache.reserve(found.bytes)
    const { file } = fetching
    try {
      await this.#download(sha, found, fetching, arrived)
      return await cache.take(file, sha, () => fetching.isGone)
    } catch (error) {
      throw fetching.isGone ? noBlob(sha) : error
    } finally {
      arrived()
      await rm(file, { force: true })
    }
  }

  /** @throws Problem not_found when it was erased meanwhile, storage_failed when its bytes are missing or damaged */
  async #download(
    sha: string,
    { object, place, bytes }: RegisteredBlob,
    fetching: BlobDownload,
    arrived: (written: number) => void,
  ): Promise<void> {
    const objects = this.#placeOf(place)
    const hash = createHash('sha256')
    const file = await open(fetching.file, 'wx', 0o600)
    try {
      for await (const chunk of objects.read({ id: object, sha, bytes })) {
        if (fetching.isGone) throw noBlob(sha)
        hash.update(chunk)
        await file.write(chunk)
        arrived(chunk.length)
      }
      if (hash.digest('hex') !== sha) throw blobDamaged(sha, 'its bytes are not those that were stored')
    } catch (error) {
      if ((await this.#find(sha))?.object !== object) throw noBlob(sha)
      // If the note fails, a later reader makes it.
      if (isProblem(error) && isBlobDamaged(error)) await this.options.register.noteDamaged(sha, object).catch(() => undefined)
      throw error
    } finally {
      await file.close()
    }
  }

  #placeOf(name: string): Objects {
    const found = this.options.places.find(({ place }) => place === name)
    if (found) return found
    throw blobDamaged(name, `its bytes are in ${name}, which BLOBS_URL does not name here`)
  }

  /** A blob that the disk has damaged is fetched again, once. */
  async read(sha: string): Promise<Buffer> {
    const found = await this.#readHere(sha)
    if (found) return found
    this.options.cache.drop(sha)
    const again = await this.#readHere(sha)
    if (again) return again
    throw blobDamaged(sha, 'the disk of this node does not keep its bytes')
  }

  async #readHere(sha: string): Promise<Buffer | undefined> {
    const { file, release } = await this.hold(sha)
    try {
      const bytes = await readFile(file)
      return createHash('sha256').update(bytes).digest('hex') === sha ? bytes : undefined
    } finally {
      release()
    }
  }

  isLeft(sha: string): Promise<boolean> {
    return this.options.register.isLeft(sha)
  }

  async removeErased(sha: string, erasedAt: string, isNamed: boolean): Promise<boolean> {
    const ageMs = isNamed ? null : limits.blobUnnamedMaxAgeMs
    const existed = await this.options.register.eraseLeft(sha, erasedAt, ageMs)
    if (existed) this.forget(sha)
    return (await this.#removeLeft(sha)) || existed
  }

  /** Removes the bytes that are listed for removal, including those that an earlier try listed. */
  async #removeLeft(sha: string): Promise<boolean> {
    const doomed = await this.options.register.doomedOf(sha)
    await this.removeObjects(doomed)
    return doomed.length > 0
  }

  /** This node follows an erasure (at `2026-01-31T10:00:00.500000Z`): from now on it neither keeps nor reads a blob that was put before. */
  noteErased(sha: string, erasedAt: string): void {
    // A later erasure may be known before an earlier one.
    if ((this.#erased.get(sha) ?? '') >= erasedAt) return
    this.#erased.set(sha, erasedAt)
    this.forget(sha)
  }

  /** Removes it only from this node, even if it is held or on its way. When this returns, no file here has its bytes. */
  forget(sha: string): void {
    const fetching = this.#fetching.get(sha)
    if (fetching) {
      fetching.isGone = true
      rmSync(fetching.file, { force: true })
    }
    this.options.cache.drop(sha)
  }

  /** Removes the bytes of objects that are listed for removal. One that cannot be removed holds up no others; its error is thrown last. */
  async removeObjects(objects: readonly DoomedObject[], signal?: AbortSignal): Promise<void> {
    const failures: unknown[] = []
    for (const object of objects) {
      signal?.throwIfAborted()
      await this.#removeObject(object).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  async #removeObject({ object, place }: DoomedObject): Promise<void> {
    await this.#placeOf(place).remove(object)
    await this.options.register.removed(object)
  }

  list(): Promise<string[]> {
    return this.options.register.list()
  }
}
