import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileContent } from '../../events/file.js'
import { SharesPerClient } from '../basics/concurrency/shares-per-client.js'
import type { BlobStore } from './blob-store.js'
import { inOwnDirectory } from '../basics/disk.js'
import type { Ingester, IngestRequest } from './ingest/ingest.js'
import type { IngestedTable } from './ingest/ingest-messages.js'

type Services = { blobs: BlobStore; ingester: Ingester; temporary: string }
type IntakeRequest = Omit<IngestRequest, 'workDirectory'>

/**
 * Takes in the files of requests: each is received in a directory of its own, read as a table, and stored as a blob.
 *
 * @example
 * await intake.inDirectory('address 203.0.113.7', async (directory) => {
 *   const table = await intake.read({ source: join(directory, 'homes.csv'), originalName: 'homes.csv' }, directory)
 *   return intake.keep(table, 'homes.csv') // { content: '9f86…', row_count: 2, … }
 * })
 */
export class Intake {
  readonly #services: Services
  // Each may fill the disk up to its limit while it is received, waits or is read.
  readonly #places = new SharesPerClient({
    what: 'uploads',
    hint: 'Upload fewer files at once: only some are read at a time.',
    max: 'fileUploadsMax',
    shares: [{ max: 'fileUploadsPerClientMax' }],
  })

  constructor(services: Services) {
    this.#services = services
  }

  /** Runs with a temporary directory. @throws Problem when too many are in use, or too many by this client */
  async inDirectory<T>(client: string, run: (directory: string) => Promise<T>): Promise<T> {
    const release = this.#places.take(client)
    try {
      return await inOwnDirectory(this.#services.temporary, 'upload-', run)
    } finally {
      release()
    }
  }

  /** Reads a table in such a directory. @throws Problem if the file is not a table */
  async read(given: IntakeRequest, directory: string): Promise<IngestedTable> {
    const workDirectory = join(directory, 'converted')
    await mkdir(workDirectory)
    return this.#services.ingester.ingest({ ...given, workDirectory })
  }

  /** Stores the table, and returns the data for its event. */
  async keep(table: IngestedTable, originalName: string | null): Promise<FileContent> {
    return {
      content: await this.#services.blobs.put(table.parquetFile),
      bytes: table.bytes,
      row_count: table.rowCount,
      columns: table.columns,
      original_name: originalName,
    }
  }
}
