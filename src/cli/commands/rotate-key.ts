import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { ConfigError, type Config } from '../../setup/config.js'
import { isProblem } from '../../basics/errors.js'
import { Ledger } from '../../commands/ledger.js'
import { checkDataDirectory, lockDataDirectory } from '../../setup/data-directory.js'
import { cliOrigin } from '../../log/contract/origins.js'
import { SqliteLog } from '../../log/sqlite/sqlite-log.js'
import { masterKeys } from '../../vault/key-files.js'
import { KeyRotation } from '../../key-rotation/key-rotation.js'
import { Vault } from '../../vault/vault.js'
import type { Output } from '../terminal/output.js'
import { refusalText, runningServer, type CommandConfig, type Server } from '../access/server.js'

const path = '/api/log/rotations'
const pollMs = 100

const statusSchema = z.object({
  from: z.string(),
  to: z.string(),
  payloads: z.number(),
  position: z.number().nullable(),
  // A server of an earlier release does not tell it.
  error: z.string().nullable().default(null),
})
const answerSchema = z.object({ rotation: statusSchema })
type Status = z.infer<typeof statusSchema>

const ask = async (server: Server, { newMasterKey }: Config, out: Output): Promise<Status> => {
  const { status, body } = await server.post(path, newMasterKey ? { key: newMasterKey.toString('hex') } : {})
  if (status !== 202) throw new ConfigError(refusalText(body))
  for (;;) {
    const { rotation } = answerSchema.parse((await server.get(path)).body)
    if (rotation.position !== null) return rotation
    if (rotation.error !== null)
      throw new ConfigError(`the rotation stopped: ${rotation.error}. Remove the cause and run rotate-key again: it goes on with that key`)
    out.progress(`${rotation.payloads} payloads`)
    await sleep(pollMs)
  }
}

const carryOut = async (config: Config): Promise<Status> => {
  const paths = checkDataDirectory(config.dataDirectory)
  const unlock = lockDataDirectory(paths)
  const vault = new Vault(...masterKeys(paths, config.masterKeys))
  const log = new SqliteLog({ file: paths.log, vault })
  const options = { isKeyGiven: config.masterKeys.length > 0, tellReaders: async () => undefined, onFailed: () => undefined }
  const rotation = new KeyRotation({ log, ledger: new Ledger(log, vault), vault, paths, ...options })
  try {
    await rotation.resume(config.newMasterKey)
    if (!rotation.status) await rotation.begin(cliOrigin, config.newMasterKey)
    await rotation.ended
    return statusSchema.parse(rotation.status)
  } catch (error) {
    throw isProblem(error) ? new ConfigError(refusalText({ detail: error.detail, hint: error.extras.hint })) : error
  } finally {
    await log.close()
    unlock()
  }
}

/**
 * `mindledger rotate-key`: replaces the master key through the running server or, without one, in the data directory. If `VAULT_KEY`
 * is set, `NEW_VAULT_KEY` is the new key. An interrupted rotation is completed instead, and another new key than its own is refused.
 */
export const rotateKey = async (config: CommandConfig, out: Output): Promise<number> => {
  const server = await runningServer(config)
  const { from, to, payloads, position } = server ? await ask(server, config, out) : await carryOut(config)
  out.line(`The master key ${from} was replaced by ${to}: ${payloads} payloads, position ${position}`)
  out.line(
    config.masterKeys.length > 0
      ? 'Set VAULT_KEY to the new key before the next start.'
      : 'vault.key holds the new key; keep a copy of it elsewhere, and destroy copies of the old one.',
  )
  return 0
}
