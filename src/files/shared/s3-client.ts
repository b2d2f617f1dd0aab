import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Agent, Dispatcher } from 'undici'
import { limits } from '../../basics/limits.js'
import { bucketUrl, objectUrl, type S3Address } from './s3-address.js'

/** The SHA-256 of no bytes, in hexadecimal. */
export const emptySha = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The content of an object to put: its length, its SHA-256 in hexadecimal, and its bytes, which are made again for each try. */
export type Content = { bytes: number; sha: string; body?: () => Readable }

/** A request that can be sent again. */
type S3Request = { method: 'PUT' | 'GET' | 'DELETE'; url: string; content?: Content }

/** The errors of S3 that mean: not now. */
const isPassing = (status: number): boolean => status >= 500 || status === 429

/** The text of an answer. @throws Error when it is too long; then the rest is not read */
const textOf = async ({ body }: Dispatcher.ResponseData): Promise<string> => {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > limits.blobAnswerMaxBytes) throw new Error(`S3 answers with more than ${limits.blobAnswerMaxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The error code of an answer, such as `AccessDenied`. */
const refusalOf = async (answer: Dispatcher.ResponseData): Promise<Error> => {
  const { statusCode } = answer
  const text = await textOf(answer).catch(() => '')
  const [, code] = /<Code>([^<]{1,100})<\/Code>/.exec(text) ?? []
  return new Error(`S3 answers ${statusCode}${code === undefined ? '' : ` ${code}`}`)
}

const isAnswer = (value: unknown): value is Dispatcher.ResponseData => typeof value === 'object' && value !== null && 'statusCode' in value

const unescaped = (text: string): string =>
  text.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ({ '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" })[entity] ?? '&')

/** The contents of the elements of an answer that have a name. The time grows only with the length of the text. */
function* elementsIn(text: string, name: string): Generator<string, void, void> {
  const [opening, closing] = [`<${name}>`, `</${name}>`]
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at)) {
    const end = text.indexOf(closing, at)
    if (end < 0) return
    yield text.slice(at + opening.length, end)
    at = end + closing.length
  }
}

/** The text of the first element of an answer that has a name. */
const elementIn = (text: string, name: string): string | undefined => {
  const [found] = elementsIn(text, name)
  return found === undefined ? undefined : unescaped(found)
}

/**
 * Objects in a bucket below a prefix. The server checks their bytes against the hash that is part of each signature, and shows an object
 * only when it is complete. A request that cannot be done now is tried again for `blobPatienceMs`.
 *
 * @example await new S3Client(address).put('manifest.json', { bytes, sha, body: () => Readable.from(text) })
 */
export class S3Client {
  /** `s3://bucket/prefix` */
  readonly place: string
  #agent: Agent | undefined

  constructor(private readonly address: S3Address) {
    this.place = `s3://${address.bucket}/${address.prefix}`
  }

  /** @throws Error that says how the server cannot be reached, or what it refuses */
  async put(name: string, content: Content): Promise<void> {
    const { body } = await this.#ask({ method: 'PUT', url: objectUrl(this.address, name), content })
    await body.dump()
  }

  /** The bytes of an object as they come; undefined when there is none. @throws Error as `put` */
  async get(name: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { statusCode, body } = await this.#ask({ method: 'GET', url: objectUrl(this.address, name) })
    if (statusCode !== 404) return body as AsyncIterable<Buffer>
    await body.dump()
    return undefined
  }

  /** Removes an object, if there is one. @throws Error as `put` */
  async remove(name: string): Promise<void> {
    const { body } = await this.#ask({ method: 'DELETE', url: objectUrl(this.address, name) })
    await body.dump()
  }

  /**
   * The names of objects that begin with a text, and their bytes. If a name goes on after a slash, only its part up to the slash is given,
   * without bytes.
   *
   * @throws Error as `put`
   */
  async *list(beginning: string): AsyncGenerator<{ name: string; bytes: number | undefined }, void, void> {
    const prefix = this.address.prefix + beginning
    for (let token: string | undefined; ;) {
      const url = new URL(bucketUrl(this.address))
      const page = { 'list-type': '2', prefix, delimiter: '/', ...(token !== undefined && { 'continuation-token': token }) }
      url.search = new URLSearchParams(page).toString()
      const answer = await this.#ask({ method: 'GET', url: url.href })
      const text = await textOf(answer)
      if (answer.statusCode === 404) throw new Error(`S3 has no bucket ${this.address.bucket}`)
      let isEmpty = true
      for (const entry of elementsIn(text, 'Contents')) {
        isEmpty = false
        const key = elementIn(entry, 'Key') ?? ''
        if (key.startsWith(prefix)) yield { name: key.slice(this.address.prefix.length), bytes: Number(elementIn(entry, 'Size')) }
      }
      for (const entry of elementsIn(text, 'CommonPrefixes')) {
        isEmpty = false
        const group = elementIn(entry, 'Prefix') ?? ''
        if (group.startsWith(prefix)) yield { name: group.slice(this.address.prefix.length, -1), bytes: undefined }
      }
      if (elementIn(text, 'IsTruncated') !== 'true') return
      const next = elementIn(text, 'NextContinuationToken')
      if (isEmpty || next === undefined || next === token) throw new Error('S3 gives a list of names that does not go on')
      token = next
    }
  }

  async close(): Promise<void> {
    await this.#agent?.close()
  }

  async #ask(ask: S3Request): Promise<Dispatcher.ResponseData> {
    const until = performance.now() + limits.blobPatienceMs
    for (;;) {
      const tried = await this.#try(ask).catch((error: unknown) => error)
      if (!(tried instanceof Error) && isAnswer(tried)) {
        // If an object is missing, a reader gets this answer, and a removal has nothing to do.
        if (tried.statusCode < 300 || (tried.statusCode === 404 && ask.method !== 'PUT')) return tried
        const refusal = await refusalOf(tried)
        if (!isPassing(tried.statusCode) || performance.now() > until) throw refusal
      } else if (performance.now() > until) throw tried
      await sleep(50 + Math.random() * 150)
    }
  }

  async #try({ method, url, content }: S3Request): Promise<Dispatcher.ResponseData> {
    const { keys, region } = this.address
    const signed = await new AwsV4Signer({
      method,
      url,
      headers: { 'x-amz-content-sha256': content?.sha ?? emptySha },
      service: 's3',
      region,
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    }).sign()
    const headers = { ...Object.fromEntries(signed.headers), ...(content && { 'content-length': String(content.bytes) }) }
    const withinMs = limits.blobAnswerTimeoutMs + Math.ceil(((content?.bytes ?? 0) / limits.blobLeastBytesPerSecond) * 1_000)
    const { Agent, request } = await import('../../egress/http-client.js')
    this.#agent ??= new Agent({
      connect: { timeout: limits.blobPatienceMs },
      headersTimeout: limits.blobAnswerTimeoutMs,
      bodyTimeout: limits.blobAnswerTimeoutMs,
    })
    return request(signed.url, {
      method,
      headers,
      dispatcher: this.#agent,
      // A download may take longer: its parts have a limit each.
      ...(method !== 'GET' && { signal: AbortSignal.timeout(withinMs) }),
      ...(content?.body && { body: content.body() }),
    })
  }
}
