import { resolve } from 'node:path'
import { appendNote } from '../audit/head-file.js'
import { findHeadSigner, newHeadSigner } from '../audit/head-key.js'
import { signHead } from '../audit/heads.js'
import { ConfigError, type Config } from '../config.js'
import { checkDataDirectory, lockDataDirectory } from '../log/data-directory.js'
import type { Head } from '../log/log.js'
import { noteHeadKey, openForReading, openForWriting, readHeadKeys, readLogId } from '../log/sqlite/schema.js'
import { readTail } from '../log/sqlite/tail.js'
import { readTree } from '../log/tree/open-tree.js'
import type { Output } from './output.js'

export type HeadOptions = {
  /** A file that the head is appended to, in the place of standard output. */
  into: string | undefined
  /** The public key instead. */
  key: boolean
  /** The older form, with the chain and without a signature. */
  json: boolean
  /** Begin a new key, and print it. */
  newKey: boolean
}

/** `mindledger head`: the newest position and the root over all events, signed, to keep elsewhere. */
export const head = async (config: Config, { into, key, json, newKey }: HeadOptions, out: Output): Promise<number> => {
  if ([key, json, newKey, into !== undefined].filter(Boolean).length > 1)
    throw new ConfigError('head takes one of --into, --key, --json and --new-key')
  if (newKey) out.line(await beginKey(config))
  else if (json) out.line(JSON.stringify(olderHead(config)))
  else await signed(config, { into, key }, out)
  return 0
}

const signed = async (config: Config, { into, key }: Pick<HeadOptions, 'into' | 'key'>, out: Output): Promise<void> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const db = openForReading(paths.log)
  try {
    const signer = findHeadSigner(paths, config.headKey, { id: readLogId(db), headKeys: () => readHeadKeys(db) })
    if (key) {
      out.line(signer.vkey)
      return
    }
    // In one transaction, so that the events and the tree are of one moment.
    const note = db.transaction(() => {
      const { position } = readTail(db)
      return signHead(signer, position, readTree(db, position).rootAt(position))
    })()
    if (into === undefined) out.line(note.slice(0, -1))
    else await appendNote(resolve(into), note)
  } finally {
    db.close()
  }
}

const olderHead = (config: Config): Head => {
  const db = openForReading(checkDataDirectory(config.dataDirectory).log)
  try {
    const { position, chain } = readTail(db)
    return { logId: readLogId(db), position, chain: chain.toString('hex') }
  } finally {
    db.close()
  }
}

/** With the server stopped, which would go on with the key that it has. */
const beginKey = async (config: Config): Promise<string> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const unlock = lockDataDirectory(paths)
  try {
    const db = openForWriting(paths.log, () => {
      throw new ConfigError(`${paths.log} is empty: there is no log whose heads could be signed`)
    })
    try {
      const log = { id: readLogId(db), noteHeadKey: (vkey: string) => noteHeadKey(db, vkey) }
      return (await newHeadSigner(paths, config.headKey, log)).vkey
    } finally {
      db.close()
    }
  } finally {
    unlock()
  }
}
