import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dataPaths } from '../../setup/data-directory.js'
import { compiledFile } from '../../setup/package.js'
import type { Settings } from './messages.js'

/** How a process is started that gives up the right to change files: flags of Node, and what its environment has besides. */
export type Confinement = { execArgv: string[]; env: Record<string, string> }

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
  const writable = [...directories, dirname(socket), '/dev/null']
  // A reader of the log notes in shared memory how far it has read, which is no part of the log.
  const noted = `${paths.log}-shm`
  return {
    execArgv: ['--require', compiledFile('analytics/give-up-writing.cjs')],
    env: {
      WRITABLE_PATHS: JSON.stringify([...writable, noted]),
      // Sockets lie in a directory of their own there, which goes with the process.
      EMPTIABLE_PATHS: JSON.stringify([tmpdir(), '/tmp']),
    },
  }
}

/** What came of it, as the process itself sees it: `landlock`, or why it can still write. */
export const confinement = (): string => process.env['CONFINEMENT'] ?? 'it was not asked to'
