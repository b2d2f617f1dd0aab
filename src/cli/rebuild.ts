import type { Config } from '../config.js'
import { rebuildResources } from '../log/sqlite/rebuild.js'
import { rebuildTree } from '../log/tree/open-tree.js'
import { withLogAtRest } from './log-at-rest.js'
import type { Output } from './output.js'

/** `mindledger rebuild`: makes `resources` and the tree follow from the events again. The server must be stopped. */
export const rebuild = (config: Config, out: Output): Promise<number> =>
  withLogAtRest(config, (db) => {
    rebuildTree(db)
    out.line(`resources and the tree follow from ${rebuildResources(db)} events again`)
    return 0
  })
