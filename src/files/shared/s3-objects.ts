import { errorText, isProblem } from '../../basics/errors.js'
import { createReadStream } from 'node:fs'
import { ConfigError } from '../../setup/config.js'
import type { Objects, StoredObject } from './objects.js'
import { blobDamaged, blobsAway } from './problems.js'
import type { S3Address } from './s3-address.js'
import { emptySha, S3Client } from './s3-client.js'

const away = (error: unknown): never => {
  throw blobsAway('S3', error)
}

/**
 * The bytes of blobs in a bucket, one object each.
 *
 * @example const objects = await S3Objects.open(readS3('BLOBS_URL', 's3://ledger/blobs?endpoint=http://minio:9000', keys))
 */
export class S3Objects implements Objects {
  readonly #client: S3Client

  constructor(address: S3Address) {
    this.#client = new S3Client(address)
  }

  get place(): string {
    return this.#client.place
  }

  /** Writes an object, reads it and removes it. @throws ConfigError when one of these is refused */
  static async open(address: S3Address): Promise<S3Objects> {
    const objects = new S3Objects(address)
    const id = `probe-${Math.random().toString(36).slice(2)}`
    try {
      await objects.#client.put(id, { bytes: 0, sha: emptySha })
      await objects.read({ id, sha: emptySha, bytes: 0 }).next()
      await objects.#client.remove(id)
      return objects
    } catch (error) {
      await objects.close()
      const why = errorText(isProblem(error) && error.extras['cause'] !== undefined ? error.extras['cause'] : error)
      throw new ConfigError(`BLOBS_URL: ${objects.place} cannot be written, read and tidied: ${why}`)
    }
  }

  /** @throws Problem storage_failed when the server cannot be reached or refuses */
  async write({ id, sha, bytes }: StoredObject, file: string): Promise<void> {
    await this.#client.put(id, { bytes, sha, body: () => createReadStream(file) }).catch(away)
  }

  async *read({ id, sha, bytes }: StoredObject): AsyncGenerator<Buffer> {
    const found = await this.#client.get(id).catch(away)
    if (!found) throw blobDamaged(sha, `${this.place}${id} does not exist`)
    let left = bytes
    try {
      for await (const chunk of found) {
        left -= chunk.length
        // The rest of a longer object is of no use, and may have no end.
        if (left < 0) break
        yield chunk
      }
    } catch (error) {
      away(error)
    }
    if (left !== 0) throw blobDamaged(sha, `${this.place}${id} does not have ${bytes} bytes`)
  }

  async remove(id: string): Promise<void> {
    await this.#client.remove(id).catch(away)
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}
