import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { Agent, request, type Dispatcher } from 'undici'
import { limits } from '../../basics/limits.js'
import { ConfigError } from '../../setup/config.js'
import type { Objects, StoredObject } from './objects.js'
import { blobDamaged, blobsAway } from './problems.js'
import { objectUrl, type S3Address } from './s3-address.js'

/** A request that can be sent again: its body is made anew for each try. */
type Ask = { method: 'PUT' | 'GET' | 'DELETE'; id: string; sha: string; bytes?: number; body?: () => Readable }

/** What S3 says of itself that it cannot do now. */
const isPassing = (status: number): boolean => status >= 500 || status === 429

/** What the server says is wrong: `AccessDenied`. */
const refusalOf = async ({ statusCode, body }: Dispatcher.ResponseData): Promise<Error> => {
  const text = (await body.text().catch(() => '')).slice(0, 4_000)
  const [, code] = /<Code>([^<]{1,100})<\/Code>/.exec(text) ?? []
  return new Error(`S3 answers ${statusCode}${code === undefined ? '' : ` ${code}`}`)
}

const emptySha = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/**
 * The bytes of blobs in a bucket, one object each. The server checks them against the hash that is part of each signature, and shows an
 * object only when it is whole.
 *
 * @example const objects = await S3Objects.open(readS3('s3://ledger/blobs?endpoint=http://minio:9000', keys))
 */
export class S3Objects implements Objects {
  readonly place: string
  readonly #agent = new Agent({
    connect: { timeout: limits.blobPatienceMs },
    headersTimeout: limits.blobAnswerTimeoutMs,
    bodyTimeout: limits.blobAnswerTimeoutMs,
  })

  constructor(private readonly address: S3Address) {
    this.place = `s3://${address.bucket}/${address.prefix}`
  }

  /** Writes an object, reads it and removes it. @throws ConfigError when one of these is refused */
  static async open(address: S3Address): Promise<S3Objects> {
    const objects = new S3Objects(address)
    const id = `probe-${Math.random().toString(36).slice(2)}`
    try {
      await objects.#carryOut({ method: 'PUT', id, sha: emptySha, bytes: 0 })
      for await (const chunk of objects.read({ id, sha: emptySha, bytes: 0 })) throw new Error(`it has ${chunk.length} bytes too many`)
      await objects.remove(id)
      return objects
    } catch (error) {
      await objects.close()
      const cause = error instanceof Error && 'extras' in error ? (error.extras as { cause?: unknown }).cause : error
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new ConfigError(`BLOBS_URL: ${objects.place} cannot be written, read and tidied: ${why}`)
    }
  }

  async write({ id, sha, bytes }: StoredObject, file: string): Promise<void> {
    await this.#carryOut({ method: 'PUT', id, sha, bytes, body: () => createReadStream(file) })
  }

  async *read({ id, sha, bytes }: StoredObject): AsyncGenerator<Buffer> {
    const { statusCode, body } = await this.#ask({ method: 'GET', id, sha: emptySha })
    if (statusCode === 404) {
      await body.dump()
      throw blobDamaged(sha, `${this.place}${id} does not exist`)
    }
    let left = bytes
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        left -= chunk.length
        yield chunk
      }
    } catch (error) {
      throw blobsAway('S3', error)
    }
    if (left !== 0) throw blobDamaged(sha, `${this.place}${id} does not have ${bytes} bytes`)
  }

  async remove(id: string): Promise<void> {
    await this.#carryOut({ method: 'DELETE', id, sha: emptySha })
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  async #carryOut(ask: Ask): Promise<void> {
    const { body } = await this.#ask(ask)
    await body.dump()
  }

  /** @throws Problem storage_failed when the server cannot be reached or refuses */
  async #ask(ask: Ask): Promise<Dispatcher.ResponseData> {
    const until = performance.now() + limits.blobPatienceMs
    for (;;) {
      const tried = await this.#try(ask).catch((error: unknown) => error)
      if (!(tried instanceof Error) && isAnswer(tried)) {
        // Of an object that is not there, a reader makes an error of its own, and who removes it is done.
        if (tried.statusCode < 300 || (tried.statusCode === 404 && ask.method !== 'PUT')) return tried
        const refusal = await refusalOf(tried)
        if (!isPassing(tried.statusCode) || performance.now() > until) throw blobsAway('S3', refusal)
      } else if (performance.now() > until) throw blobsAway('S3', tried)
      await sleep(50 + Math.random() * 150)
    }
  }

  async #try({ method, id, sha, bytes, body }: Ask): Promise<Dispatcher.ResponseData> {
    const { keys, region } = this.address
    const signed = await new AwsV4Signer({
      method,
      url: objectUrl(this.address, id),
      headers: { 'x-amz-content-sha256': sha },
      service: 's3',
      region,
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    }).sign()
    const headers = { ...Object.fromEntries(signed.headers), ...(bytes !== undefined && { 'content-length': String(bytes) }) }
    const withinMs = limits.blobAnswerTimeoutMs + Math.ceil(((bytes ?? 0) / limits.blobLeastBytesPerSecond) * 1_000)
    return request(signed.url, {
      method,
      headers,
      dispatcher: this.#agent,
      // A download may take longer: its parts have a limit each.
      ...(method !== 'GET' && { signal: AbortSignal.timeout(withinMs) }),
      ...(body && { body: body() }),
    })
  }
}

const isAnswer = (value: unknown): value is Dispatcher.ResponseData => typeof value === 'object' && value !== null && 'statusCode' in value
