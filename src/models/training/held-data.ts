import { erasedBlobsOf, erasedPayloadsOf } from '../../../events/catalogue/references.js'
import { logStream } from '../../../events/records/log.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { FileOf } from '../../files/blob-store.js'
import type { Log } from '../../log/contract/log.js'
import { streamEventsWith } from '../../log/read/slices.js'
import type { RowSource, SelectedRows } from '../data/rows-file.js'

type ReadableLog = Pick<Log, 'readStream' | 'streamVersion'>

/**
 * The data in the files of a training, of a data check or of a table that is written, which may be erased while the work goes on. Until
 * the query of the work has been read, this may be any data.
 *
 * @example
 * const held = await HeldData.since(log)
 * await writeRows(held.noting(select), query, file, signal)
 * await held.isErased() // true if an erasure took some of it meanwhile
 */
export class HeldData {
  readonly #blobs = new Set<string>()
  #rows: NonNullable<SelectedRows['erasable']> | undefined

  private constructor(
    private readonly log: ReadableLog,
    private readonly version: number,
  ) {}

  /** Begins before the work reads anything: it reads nothing that was erased before. */
  static async since(log: ReadableLog): Promise<HeldData> {
    return new HeldData(log, await log.streamVersion(logStream))
  }

  /** Notes that the work has no rows of a query. */
  noteNoRows(): void {
    this.note({ contents: [], records: false })
  }

  /** Notes the data in the rows of its query; it may be any data, if that is not known. */
  note(rows: SelectedRows['erasable']): void {
    this.#rows = rows
  }

  /** The same source, whose rows are noted. */
  noting(select: RowSource): RowSource {
    return async (query, signal) => {
      const selected = await select(query, signal)
      this.note(selected.erasable)
      return selected
    }
  }

  /** The same files of blobs, which are noted. */
  notingFiles(fileOf: FileOf): FileOf {
    return (sha) => {
      this.#blobs.add(sha)
      return fileOf(sha)
    }
  }

  /** Whether an erasure since the beginning took some of this data. */
  async isErased(): Promise<boolean> {
    const erasures = streamEventsWith(this.log, logStream, this.version, (text) => text.includes('"type":"DataErased"'))
    for await (const event of erasures) if (this.#isIn(event)) return true
    return false
  }

  #isIn({ type, data }: Envelope): boolean {
    if (type !== 'DataErased' || data['what'] === 'secrets') return false
    const [payloads, blobs] = [erasedPayloadsOf(type, data), erasedBlobsOf(type, data)]
    // An erasure of kept answers alone names nothing.
    if (!this.#rows) return payloads.length + blobs.length > 0
    const { contents, records } = this.#rows
    if (records && payloads.length > 0) return true
    return blobs.some((hash) => this.#blobs.has(hash) || contents.includes(hash))
  }
}
