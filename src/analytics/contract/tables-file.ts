import { renameSync, rmSync } from 'node:fs'
import type { DataPaths } from '../../setup/data-directory.js'

/** Removes everything that DuckDB writes beside its temporary files. */
export const removeTables = ({ analytics }: DataPaths): void => {
  for (const suffix of ['', '.wal', '.tmp']) rmSync(`${analytics}${suffix}`, { recursive: true, force: true })
}

/**
 * Puts a copy in the place of the tables, while no process has them open. When that is cut off, the old ones are there, which
 * the next start tells by `begun_at` and builds anew, or the copy.
 */
export const exchangeTables = ({ analytics }: DataPaths, copy: string): void => {
  for (const suffix of ['.wal', '.tmp']) rmSync(`${analytics}${suffix}`, { recursive: true, force: true })
  renameSync(copy, analytics)
}
