import { renameSync, rmSync } from 'node:fs'
import type { DataPaths } from '../../setup/data-directory.js'

/** Removes everything that DuckDB writes beside its temporary files. */
export const removeTables = ({ analytics }: DataPaths): void => {
  for (const suffix of ['', '.wal', '.tmp']) rmSync(`${analytics}${suffix}`, { recursive: true, force: true })
}

/**
 * Puts a copy in the place of the tables, while no process has them open. A crash leaves either the copy or the old tables;
 * the next start knows old ones by their `begun_at`, and builds them anew.
 */
export const exchangeTables = ({ analytics }: DataPaths, copy: string): void => {
  for (const suffix of ['.wal', '.tmp']) rmSync(`${analytics}${suffix}`, { recursive: true, force: true })
  renameSync(copy, analytics)
}
