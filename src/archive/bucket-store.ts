import { errorText } from '../basics/errors.js'
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { inOwnDirectory } from '../basics/disk.js'
import { undoAll } from '../basics/undo.js'
import type { S3Address } from '../files/shared/s3-address.js'
import { S3Client } from '../files/shared/s3-client.js'
import { ConfigError } from '../setup/config.js'
import type { ArchiveStore, MadeFile, NamedFile } from './store.js'

/** The parts of a file up to the one that passes its size: its rest may have no end, and the size of the kept file shows the fault. */
async function* upTo(bytes: number, parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let left = bytes
  for await (const part of parts) {
    yield part
    left -= part.length
    if (left < 0) return
  }
}

/**
 * An export in a bucket, one object for each file. Files are made in a separate folder of this machine, and sent when they are whole.
 *
 * @example const store = new BucketStore(readS3('EXPORT_URL', 's3://history/ledger', keys))
 */
export class BucketStore implements ArchiveStore {
  readonly #client: S3Client
  #work: string | undefined

  /** @param folder where files are made; files that a killed export left there are removed. By default it is a temporary folder. */
  constructor(
    address: S3Address,
    private readonly folder?: string,
  ) {
    this.#client = new S3Client(address)
  }

  get place(): string {
    return this.#client.place.replace(/\/$/, '')
  }

  list(folder: string): Promise<ReadonlyMap<string, number>> {
    const beginning = folder === '' ? '' : `${folder}/`
    return this.#reached(async () => {
      const found = new Map<string, number>()
      for await (const { name, bytes } of this.#client.list(beginning))
        // The console of a bucket makes such an object for a folder.
        if (name !== beginning && !name.endsWith('/')) found.set(name.slice(beginning.length), bytes ?? -1)
      return found
    })
  }

  async readText(name: string, maxBytes: number): Promise<string | undefined> {
    const parts: Buffer[] = []
    let bytes = 0
    const found = await this.#get(name)
    if (!found) return undefined
    for await (const part of found) {
      bytes += part.length
      if (bytes > maxBytes) throw new Error(`${this.place}/${name} has more than ${maxBytes} bytes`)
      parts.push(part)
    }
    return Buffer.concat(parts).toString('utf8')
  }

  disk(): string {
    if (this.folder === undefined) return tmpdir()
    mkdirSync(this.folder, { recursive: true })
    return this.folder
  }

  async work(): Promise<string> {
    if (this.folder === undefined) return (this.#work ??= await mkdtemp(join(tmpdir(), 'mindledger-export-')))
    await rm(this.folder, { recursive: true, force: true })
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    return (this.#work = this.folder)
  }

  async put({ path, bytes, sha256 }: MadeFile, name: string): Promise<void> {
    await this.#reached(() => this.#client.put(name, { bytes, sha: sha256, body: () => createReadStream(path) }))
    await rm(path)
  }

  remove(name: string): Promise<void> {
    return this.#reached(() => this.#client.remove(name))
  }

  withFiles<T>(files: readonly NamedFile[], use: (paths: readonly (string | undefined)[]) => Promise<T>): Promise<T> {
    return inOwnDirectory(tmpdir(), 'mindledger-export-', async (directory) => {
      const paths: (string | undefined)[] = []
      for (const [i, { name, bytes }] of files.entries()) {
        const path = join(directory, `${i}.parquet`)
        const found = await this.#get(name)
        if (found) await this.#keep(upTo(bytes, found), path)
        paths.push(found && path)
      }
      return use(paths)
    })
  }

  async close(): Promise<void> {
    const work = this.#work
    await undoAll([() => this.#client.close(), () => work && rm(work, { recursive: true, force: true })])
  }

  /** The bytes of a file as they come; undefined when it does not exist. */
  async #get(name: string): Promise<AsyncIterable<Buffer> | undefined> {
    const found = await this.#reached(() => this.#client.get(name))
    return found && this.#received(found)
  }

  /** Nothing is known about a file that this machine cannot keep, either. @throws ConfigError */
  async #keep(found: AsyncIterable<Buffer>, path: string): Promise<void> {
    try {
      await pipeline(found, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
    } catch (error) {
      if (error instanceof ConfigError) throw error
      throw new ConfigError(`${tmpdir()} of this machine cannot keep a file of ${this.place}: ${errorText(error)}`)
    }
  }

  /** If their reader fails, as on a full disk, this ends without an error of the bucket. @throws ConfigError if they do not come */
  async *#received(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    try {
      yield* parts
    } catch (error) {
      throw this.#unreached(error)
    }
  }

  async #reached<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw this.#unreached(error)
    }
  }

  /** If a bucket cannot be reached, nothing is known about its files. */
  #unreached(error: unknown): ConfigError {
    return new ConfigError(`${this.place} cannot be reached: ${errorText(error)}`)
  }
}
