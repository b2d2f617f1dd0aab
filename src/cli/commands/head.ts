import { resolve } from 'node:path'
import { appendNote } from '../../audit/head-file.js'
import { findFileSigner, olderFileHead, signedFileHead } from '../../audit/signed-file-head.js'
import { newHeadSigner } from '../../audit/head-key.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { checkDataDirectory } from '../../setup/data-directory.js'
import type { Head } from '../../log/contract/log.js'
import { noteHeadKey, openForReading, readLogId, refuseCopyOfShared } from '../../log/storage/schema.js'
import { syncWalOf } from '../../log/storage/wal-file.js'
import { withLogAtRest } from '../access/log-at-rest.js'
import type { Output } from '../terminal/output.js'

export type HeadOptions = {
  /** A file to which the head is appended, instead of standard output. */
  into: string | undefined
  /** Print the public key instead. */
  key: boolean
  /** Print the older form, with the chain and without a signature. */
  json: boolean
  /** Begin a new key and print it. */
  newKey: boolean
}

/** `mindledger head`: the newest position and the root over all events, signed, to be kept elsewhere. */
export const head = async (config: Config, { into, key, json, newKey }: HeadOptions, out: Output): Promise<number> => {
  if ([key, json, newKey, into !== undefined].filter(Boolean).length > 1)
    throw new ConfigError('head takes one of --into, --key, --json and --new-key')
  if (newKey) out.line(await beginKey(config))
  else if (json) out.line(JSON.stringify(await olderHead(config)))
  else await signed(config, { into, key }, out)
  return 0
}

const signed = async (config: Config, { into, key }: Pick<HeadOptions, 'into' | 'key'>, out: Output): Promise<void> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const db = openForReading(paths.log)
  try {
    const signer = findFileSigner(paths, config.headKey, db)
    if (key) {
      out.line(signer.vkey)
      return
    }
    const note = signedFileHead(db, signer)
    await syncWalOf(paths.log)
    if (into === undefined) out.line(note.slice(0, -1))
    else await appendNote(resolve(into), note)
  } finally {
    db.close()
  }
}

const olderHead = async (config: Config): Promise<Head> => {
  const { log } = checkDataDirectory(config.dataDirectory)
  const db = openForReading(log)
  try {
    const head = olderFileHead(db)
    await syncWalOf(log)
    return head
  } finally {
    db.close()
  }
}

/** The server must be stopped, because a running one would continue with its old key. */
const beginKey = (config: Config): Promise<string> =>
  withLogAtRest(config, async (db, paths) => {
    refuseCopyOfShared(db)
    const log = { id: readLogId(db), noteHeadKey: (vkey: string) => noteHeadKey(db, vkey) }
    return (await newHeadSigner(paths, config.headKey, log)).vkey
  })
