import { statSync } from 'node:fs'
import { join } from 'node:path'
import { findHeadSigner } from '../audit/head-key.js'
import { isDiskFull, errorText } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { backgroundPriority, lowerPriority } from '../basics/priority.js'
import { ignoreUserSignals } from '../basics/user-signals.js'
import type { S3Keys } from '../setup/config.js'
import { openLogReader } from '../log/sqlite/log-reader.js'
import { dataPaths } from '../setup/data-directory.js'
import { openArchive } from './open.js'
import { writeArchive, type ArchiveResult } from './write-archive.js'

/** The only message to the process: the log to export, and the place. `headKey` is the seed in hexadecimal, if it is not in a file. */
export type ExportJob = {
  dataDirectory: string
  /** A folder, or the address of a bucket and its keys. */
  place: string
  keys: S3Keys | undefined
  headKey: string | undefined
  /** How many positions each range of a new export has. */
  rangePositions: number
  /** Whether to trust that all ranges of the manifest exist. */
  trusting: boolean
}

/** The messages from the process: its progress, then one of the others. */
export type ExportMessage = { at: number } | { done: ArchiveResult } | { failed: string; isFull: boolean }

/** Writes the finished ranges. On the disk of the data directory it leaves room for the log. */
const run = async ({ dataDirectory, place, keys, headKey, ...job }: ExportJob): Promise<ArchiveResult> => {
  const paths = dataPaths(dataDirectory)
  const store = openArchive('EXPORT_URL', place, keys, join(paths.temporary, 'export'))
  const sameDisk = statSync(store.disk()).dev === statSync(dataDirectory).dev
  const keepFree = sameDisk ? { keepFree: limits.exportFreeMinBytes } : {}
  const reader = openLogReader(dataDirectory)
  try {
    const seed = headKey === undefined ? undefined : Buffer.from(headKey, 'hex')
    const signer = findHeadSigner(paths, seed, reader)
    const onProgress = (at: number): void => void process.send?.({ at } satisfies ExportMessage)
    const size = reader.head()
    await reader.confirm()
    return await writeArchive({ ...job, ...keepFree, store, reader, signer, size, finishedOnly: true, onProgress })
  } finally {
    reader.close()
  }
}

const failure = (error: unknown): ExportMessage => ({
  failed: errorText(error).split('\n', 1)[0] ?? '',
  isFull: isDiskFull(error),
})

lowerPriority(backgroundPriority)
ignoreUserSignals()
// Another node or the next start may export soon, so this process ends with the service.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.once('message', (job: ExportJob) => {
  void run(job)
    .then((done): ExportMessage => ({ done }), failure)
    .then((last) => process.send?.(last, () => process.exit(0)))
})
