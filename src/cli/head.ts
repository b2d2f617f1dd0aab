import type { Config } from '../config.js'
import { checkDataDirectory } from '../log/data-directory.js'
import type { Head } from '../log/log.js'
import { openForReading, readLogId } from '../log/sqlite/schema.js'
import { readTail } from '../log/sqlite/tail.js'
import type { Output } from './output.js'

/** `mindledger head`: the newest position and the chain up to it, as JSON to keep elsewhere. */
export const head = async (config: Config, out: Output): Promise<number> => {
  const db = openForReading(checkDataDirectory(config.dataDirectory).log)
  try {
    const { position, chain } = readTail(db)
    const found: Head = { logId: readLogId(db), position, chain: chain.toString('hex') }
    out.line(JSON.stringify(found))
    return 0
  } finally {
    db.close()
  }
}
