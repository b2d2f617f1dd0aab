import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dataPaths } from '../../setup/data-directory.js'
import { confined, type Confinement } from '../../setup/confinement.js'
import type { Settings } from './messages.js'

/** The directory in which DuckDB spills what does not fit in memory. */
export const spillDirectory = (dataDirectory: string): string => join(dataPaths(dataDirectory).temporary, 'spill')

/**
 * Makes the room that an analytics process needs, empty of what an earlier one left, and says how to start one that can write there
 * and nowhere else. It cannot write to the log, the blobs and the keys.
 *
 * @example fork(entry, [], confine(settings))
 */
export const confine = ({ dataDirectory, socket }: Settings): Confinement => {
  const paths = dataPaths(dataDirectory)
  const spill = spillDirectory(dataDirectory)
  // What a killed process spilled stays behind.
  rmSync(spill, { recursive: true, force: true })
  const directories = [dirname(paths.analytics), spill, paths.tables]
  for (const directory of directories) mkdirSync(directory, { recursive: true, mode: 0o700 })
  // A reader of the log notes in shared memory how far it has read, which is no part of the log.
  const noted = `${paths.log}-shm`
  // Sockets lie in a directory of their own in that of the system, which goes with the process.
  return confined({ writable: [...directories, dirname(socket), noted], emptiable: [tmpdir(), '/tmp'] })
}

/** What came of it, as the process itself sees it: `landlock`, or why it can still write. */
export const confinement = (): string => process.env['CONFINEMENT'] ?? 'it was not asked to'
