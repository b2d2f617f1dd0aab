import { bucketOf } from '../../../files/shared/s3-address.js'
import { reappend } from '../../../migration/reappend.js'
import { ConfigError, type Config } from '../../../setup/config.js'
import { checkDataDirectory, lockDataDirectory } from '../../../setup/data-directory.js'
import type { Output } from '../../terminal/output.js'

/**
 * `mindledger reappend`: appends events that a failover lost to PostgreSQL again, from the file of this node. Exit status 1 when contents
 * are missing.
 */
export const reappendLost = async (config: Config, out: Output): Promise<number> => {
  const { logUrl: url } = config
  if (url === undefined) throw new ConfigError('LOG_URL: must be set to the PostgreSQL of the nodes')
  const paths = checkDataDirectory(config.dataDirectory)
  const unlock = lockDataDirectory(paths)
  try {
    const onProgress = (text: string) => out.progress(text)
    const { first, last, answers, missing } = await reappend({ paths, to: { url, s3: bucketOf(config) }, onProgress })
    if (first > last && answers > 0)
      out.line(`PostgreSQL has all events of this node, which ends at position ${last}; kept answers given back: ${answers}. Start it`)
    else if (first > last) out.line(`PostgreSQL has all events of this node, which ends at position ${last}: start it`)
    else out.line(`appended again: positions ${first} to ${last}. Start this node, and then the others anew`)
    for (const hash of missing) out.line(`blob ${hash} was lost: neither PostgreSQL nor this node has it whole`)
    return missing.length === 0 ? 0 : 1
  } finally {
    unlock()
  }
}
