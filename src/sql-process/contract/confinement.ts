import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dataPaths } from '../../setup/data-directory.js'
import { confined, type Confinement } from '../../setup/confinement.js'
import type { Settings } from './messages.js'

/** The directory in which DuckDB spills data that does not fit in memory. */
export const spillDirectory = (dataDirectory: string): string => join(dataPaths(dataDirectory).temporary, 'spill')

/**
 * Makes the directories of an SQL process, without files of an earlier one, and returns how to start a process that can only write
 * there. It cannot write to the log, the blobs and the keys.
 *
 * @example fork(entry, [], confine(settings))
 */
export const confine = ({ dataDirectory, socket }: Settings): Confinement => {
  const paths = dataPaths(dataDirectory)
  const spill = spillDirectory(dataDirectory)
  // The spilled files of a killed process stay behind.
  rmSync(spill, { recursive: true, force: true })
  const directories = [dirname(paths.tablesFile), spill, paths.tables]
  for (const directory of directories) mkdirSync(directory, { recursive: true, mode: 0o700 })
  // A reader of the log notes in shared memory how far it has read, which is no part of the log.
  const noted = `${paths.log}-shm`
  // Sockets lie in a directory of their own in the system's temporary directory. It is removed with the process.
  return confined({ writable: [...directories, dirname(socket), noted], emptiable: [tmpdir(), '/tmp'] })
}

/** The result, as the process itself sees it: `landlock`, or which rights it kept, and why. */
export const confinement = (): string => process.env['CONFINEMENT'] ?? 'it was not told to'
