import type { Config } from '../../setup/config.js'
import { rebuildResources } from '../../log/sqlite/rebuild.js'
import { rebuildTree } from '../../log/proof/stored-tree.js'
import { withLogAtRest } from '../access/log-at-rest.js'
import type { Output } from '../terminal/output.js'

/** `mindledger rebuild`: rebuilds `resources` and the tree from the events. The server must be stopped. */
export const rebuild = (config: Config, out: Output): Promise<number> =>
  withLogAtRest(config, (db) => {
    rebuildTree(db)
    out.line(`resources and the tree follow from ${rebuildResources(db)} events again`)
    return 0
  })
