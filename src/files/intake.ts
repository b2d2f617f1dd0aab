import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileContent } from '../../events/file.js'
import { Problem } from '../errors.js'
import { limits } from '../limits.js'
import type { Blobs } from './blobs.js'
import { inOwnDirectory } from './disk.js'
import type { Ingester, IngestRequest } from './ingest.js'
import type { Ingested } from './ingest-messages.js'

type Services = { blobs: Blobs; ingester: Ingester; temporary: string }
type Given = Omit<IngestRequest, 'workDirectory'>

/**
 * Takes in the files that requests bring: each has a directory to be received in, is read as a table, and becomes a blob.
 *
 * @example
 * await intake.inDirectory(async (directory) => {
 *   const table = await intake.read({ source: join(directory, 'homes.csv'), originalName: 'homes.csv' }, directory)
 *   return intake.keep(table, 'homes.csv') // { content: '9f86…', row_count: 2, … }
 * })
 */
export class Intake {
  readonly #services: Services
  // Each may fill the disk up to its limit while it is received, waits or is read.
  #underWay = 0

  constructor(services: Services) {
    this.#services = services
  }

  /** Runs with a directory that is gone afterwards. @throws Problem when too many have one */
  async inDirectory<T>(run: (directory: string) => Promise<T>): Promise<T> {
    if (this.#underWay >= limits.fileUploadsMax)
      throw new Problem('busy', 'Busy', `${limits.fileUploadsMax} files are being uploaded already`, { retryAfterSeconds: 5 })
    this.#underWay += 1
    try {
      return await inOwnDirectory(this.#services.temporary, 'upload-', run)
    } finally {
      this.#underWay -= 1
    }
  }

  /** Reads a table that lies in such a directory. @throws Problem when it is none */
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
