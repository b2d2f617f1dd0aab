import type { Head } from '../log/contract/log.js'
import { readHeadKeys, readLogId, type LogConnection } from '../log/storage/schema.js'
import { readTail } from '../log/storage/events.js'
import { readTree } from '../log/proof/stored-tree.js'
import type { DataPaths } from '../setup/data-directory.js'
import { findHeadSigner } from './head-key.js'
import { signHead } from './heads.js'
import type { NoteSigner } from './note-key.js'

/** The signer of heads for a log's file that is open for reading. @throws ConfigError if the key is missing */
export const findFileSigner = (paths: DataPaths, given: Buffer | undefined, db: LogConnection): NoteSigner =>
  findHeadSigner(paths, given, { id: readLogId(db), headKeys: () => readHeadKeys(db) })

/** The signed head of a log's file. One transaction, so that the events and the tree belong to the same state. */
export const signedFileHead = (db: LogConnection, signer: NoteSigner): string =>
  db.transaction(() => {
    const { position } = readTail(db)
    return signHead(signer, position, readTree(db, position).rootAt(position))
  })()

/** The older form of a head, with the chain and without a signature. */
export const olderFileHead = (db: LogConnection): Head => {
  const { position, chain } = readTail(db)
  return { logId: readLogId(db), position, chain: chain.toString('hex') }
}
