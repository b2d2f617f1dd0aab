import { ConfigError, type Config } from '../config.js'
import { checkDataDirectory, lockDataDirectory } from '../log/data-directory.js'
import { rebuildResources } from '../log/sqlite/rebuild.js'
import { openForWriting } from '../log/sqlite/schema.js'
import { rebuildTree } from '../log/tree/open-tree.js'
import type { Output } from './output.js'

/** `mindledger rebuild`: makes `resources` and the tree follow from the events again. The server must be stopped. */
export const rebuild = async (config: Config, out: Output): Promise<number> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const unlock = lockDataDirectory(paths)
  try {
    const db = openForWriting(paths.log, () => {
      throw new ConfigError(`${paths.log} is empty: there is no log to rebuild from`)
    })
    try {
      rebuildTree(db)
      out.line(`resources and the tree follow from ${rebuildResources(db)} events again`)
      return 0
    } finally {
      db.close()
    }
  } finally {
    unlock()
  }
}
