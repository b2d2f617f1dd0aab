import { logStream } from '../../events/records/log.js'
import { erasedBlobsOf, mayEraseBlobs } from '../../events/catalogue/references.js'
import { limits } from '../basics/limits.js'
import type { Log } from '../log/contract/log.js'
import { everyResource } from '../log/read/every-resource.js'
import { streamEventsWith } from '../log/read/slices.js'
import type { BlobStore } from './blob-store.js'
import { hashesOf } from './unnamed-blobs.js'
import type { Logger } from '../basics/logger.js'

type Options = { log: Log; blobs: BlobStore; logger: Pick<Logger, 'error'> }

/**
 * Checks at intervals whether the contents that current files and models name exist. It only compares names, which is cheap; `mindledger
 * verify` reads the bytes, and also those of past versions.
 *
 * @example const missing = new MissingBlobs({ log, blobs, logger }); missing.start(); missing.warning()
 */
export class MissingBlobs {
  readonly #options: Options
  #missing = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  /** Checks now, and again from time to time. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), limits.blobsLookMs)
    this.#timer.unref()
    this.#look()
  }

  /** Stops checking, and waits for the running check. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  /** The missing contents, in words; undefined if there are none. */
  warning(): string | undefined {
    if (this.#missing === 0) return undefined
    return `${this.#missing} contents of files or models are missing in ${this.#options.blobs.place}; "mindledger verify" names them`
  }

  #look(): void {
    const { blobs, logger } = this.#options
    this.#looking = this.#looking.then(() =>
      this.#count().then(
        (missing) => {
          if (missing > this.#missing) logger.error({ missing }, `contents of files or models are missing in ${blobs.place}`)
          this.#missing = missing
        },
        (err: unknown) => logger.error({ err }, 'the check for missing contents failed'),
      ),
    )
  }

  async #count(): Promise<number> {
    const { log, blobs } = this.#options
    /** The missing contents, and when a file last named each. */
    const missing = new Map<string, string>()
    for await (const model of everyResource(log.resources, 'model')) for (const hash of hashesOf(model)) missing.set(hash, '')
    for await (const { state, updated_at } of everyResource(log.resources, 'file'))
      if (updated_at > (missing.get(state.content) ?? '')) missing.set(state.content, updated_at)
    for (const hash of await blobs.list()) missing.delete(hash)
    if (missing.size === 0) return 0
    for await (const { type, data, recorded_at } of streamEventsWith(log, logStream, 0, mayEraseBlobs))
      for (const hash of erasedBlobsOf(type, data)) {
        const namedAt = missing.get(hash)
        // An upload after an erasure stored the content again.
        if (namedAt !== undefined && namedAt <= recorded_at) missing.delete(hash)
      }
    return missing.size
  }
}
