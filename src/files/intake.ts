import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileContent } from '../../events/file.js'
import { SharesPerClient } from '../basics/shares-per-client.js'
import type { Blobs } from './blobs.js'
import { inOwnDirectory } from '../basics/disk.js'
import type { Ingester, IngestRequest } from './ingest/ingest.js'
import type { Ingested } from './ingest/ingest-messages.js'

type Services = { blobs: Blobs; ingester: Ingester; temporary: string }
type Given = Omit<IngestRequest, 'workDirectory'>

/**
 * Takes in the files that requests bring: each has a directory to be received in, is read as a table, and becomes a blob.
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
    perClientMax: 'fileUploadsPerClientMax',
  })

  constructor(services: Services) {
    this.#services = services
  }

  /** Runs with a directory that is gone afterwards. @throws Problem when too many have one, or too many of this client's */
  async inDirectory<T>(client: string, run: (directory: string) => Promise<T>): Promise<T> {
    const release = this.#places.take(client)
    try {
      return await inOwnDirectory(this.#services.temporary, 'upload-', run)
    } finally {
      release()
    }
  }

  /** Reads a table in such a directory. @throws Problem if it is not a table */
  async read(given: Given, directory: string): Promise<Ingested> {
    const workDirectory = join(directory, 'converted')
    await mkdir(workDirectory)
    return this.#services.ingester.ingest({ ...given, workDirectory })
  }

  /** Stores what was read, and gives what an event says of it. */
  async keep(table: Ingested, originalName: string | null): Promise<FileContent> {
    return {
      content: await this.#services.blobs.put(table.parquetFile),
      bytes: table.bytes,
      row_count: table.rowCount,
      columns: table.columns,
      original_name: originalName,
    }
  }
}
