import { mkdtempSync, readdirSync, rmSync, type Dirent } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Removes a directory. The processes of a service that was killed end a little later, and may write to it until then. Node tries to remove an
 * empty directory again, but not what was written to it meanwhile.
 */
export const removeDirectory = (path: string, tries = 100): void => {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  } catch (error) {
    if (tries === 0 || (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    removeDirectory(path, tries - 1)
  }
}

/** A directory that is removed after its test. */
export const temporaryDirectory = (): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'mindledger-test-'))
  return { path, remove: () => removeDirectory(path) }
}

/** The entries of a directory; none if another process has removed it meanwhile, as a training does with its own. */
export const entriesOf = (directory: string): Dirent[] => {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return []
  }
}

/** Entries of a directory with all below them, by their paths from it. */
const withAllBelow = (directory: string, entries: readonly Dirent[]): string[] =>
  entries.flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name]
    const path = join(directory, entry.name)
    return [entry.name, ...withAllBelow(path, entriesOf(path)).map((below) => join(entry.name, below))]
  })

/**
 * All files and folders below a directory, by their paths from it. Those that other processes remove meanwhile may be missing: the reading
 * of Node would fail at them.
 *
 * @throws Error if the directory itself is not there
 * @example pathsUnder(directory) // ['log.sqlite', 'tmp', 'tmp/uploads']
 */
export const pathsUnder = (directory: string): string[] => withAllBelow(directory, readdirSync(directory, { withFileTypes: true }))
