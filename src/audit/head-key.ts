import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../setup/config.js'
import { sync, writeWhole } from '../basics/disk.js'
import type { DataPaths } from '../setup/data-directory.js'
import { originOf } from './tlog-checkpoint.js'
import { noteSigner, seedBytes, type NoteSigner } from './note-key.js'

/** The log's notes about the keys that sign its heads. */
type HeadKeyHistory = { id: string; headKeys: () => string[] }

/** The given seed, or else the file's; undefined without both. */
const findSeed = (paths: DataPaths, given: Buffer | undefined): Buffer | undefined => {
  if (given) return given
  if (!existsSync(paths.headKey)) return undefined
  const text = readFileSync(paths.headKey, 'utf8').trim()
  if (/^[0-9a-f]+$/i.test(text) && text.length === seedBytes * 2) return Buffer.from(text, 'hex')
  throw new ConfigError(
    `${paths.headKey} does not hold a key of ${seedBytes * 2} hex digits. Restore the file from where you keep keys; "mindledger head --new-key" makes a new one, and who checks heads must then be told.`,
  )
}

/** Makes a seed and stores it in the file, which only its owner may read. */
const makeSeed = async (paths: DataPaths): Promise<Buffer> => {
  const seed = randomBytes(seedBytes)
  writeWhole(paths.headKey, `${seed.toString('hex')}\n`)
  await sync(dirname(paths.headKey))
  return seed
}

const lost = (paths: DataPaths) =>
  new ConfigError(
    `the key that signs this log's heads is lost: ${paths.headKey} is missing and HEAD_KEY is not set. Put the key back. The log itself stays whole without it, and heads that were signed stay proven; "mindledger head --new-key" makes a new key, and who checks heads must then be told.`,
  )

const checked = (signer: NoteSigner, [noted]: readonly string[]): NoteSigner => {
  if (noted === undefined || noted === signer.vkey) return signer
  throw new ConfigError(
    `this log's heads are signed with the key ${noted}, not with ${signer.vkey}. Set HEAD_KEY to the right key, or unset it to use the data directory's; "mindledger head --new-key" makes a new key, and who checks heads must then be told.`,
  )
}

/**
 * The signer of heads for a log that is only read, even while a server runs.
 * @throws ConfigError if the key is missing
 */
export const findHeadSigner = (paths: DataPaths, given: Buffer | undefined, log: HeadKeyHistory): NoteSigner => {
  const seed = findSeed(paths, given)
  if (seed) return checked(noteSigner(originOf(log.id), seed), log.headKeys())
  if (log.headKeys().length > 0) throw lost(paths)
  throw new ConfigError(
    `there is no key yet that signs heads: "mindledger serve" makes one, or set HEAD_KEY. --json prints a head without a signature.`,
  )
}

/**
 * The signer of heads for a server's log. It uses the log's key; for a log without one it makes a key and stores it in a file. The
 * first start notes the public key in the log's file.
 *
 * @throws ConfigError when the key is missing, unfit or not the log's
 */
export const headSigner = async (
  paths: DataPaths,
  given: Buffer | undefined,
  log: HeadKeyHistory & { noteHeadKey: (vkey: string) => Promise<void> | void },
): Promise<NoteSigner> => {
  const keys = log.headKeys()
  const found = findSeed(paths, given)
  if (!found && keys.length > 0) throw lost(paths)
  const signer = checked(noteSigner(originOf(log.id), found ?? (await makeSeed(paths))), keys)
  if (keys.length === 0) await log.noteHeadKey(signer.vkey)
  return signer
}

/**
 * A new key in place of one that was lost or disclosed: the given key, or a new one stored in the file. The log notes it beside the earlier
 * keys, which still verify older heads.
 *
 * @throws ConfigError when the file holds a key: the caller has to move it away
 */
export const newHeadSigner = async (
  paths: DataPaths,
  given: Buffer | undefined,
  log: { id: string; noteHeadKey: (vkey: string) => Promise<void> | void },
): Promise<NoteSigner> => {
  if (!given && existsSync(paths.headKey))
    throw new ConfigError(`${paths.headKey} is there, and a key is never overwritten: move the file away first, and keep it.`)
  const signer = noteSigner(originOf(log.id), given ?? (await makeSeed(paths)))
  await log.noteHeadKey(signer.vkey)
  return signer
}
