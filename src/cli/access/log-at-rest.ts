import { ConfigError, type Config } from '../../setup/config.js'
import { checkDataDirectory, lockDataDirectory, type DataPaths } from '../../setup/data-directory.js'
import { openForWriting, type LogConnection } from '../../log/storage/schema.js'

/**
 * Opens the log's file for a change that cannot be made while a server runs.
 *
 * @example await withLogAtRest(config, (db) => rebuildResources(db))
 * @throws ConfigError if a server holds the directory, or the directory has no log
 */
export const withLogAtRest = async <T>(config: Config, use: (db: LogConnection, paths: DataPaths) => T | Promise<T>): Promise<T> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const unlock = lockDataDirectory(paths)
  try {
    const db = openForWriting(paths.log, () => {
      throw new ConfigError(`${paths.log} is empty: there is no log`)
    })
    try {
      return await use(db, paths)
    } finally {
      db.close()
    }
  } finally {
    unlock()
  }
}
