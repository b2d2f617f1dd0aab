import { tmpdir } from 'node:os'
import { inOwnDirectory } from '../../basics/disk.js'
import { copyShared } from '../../migration/copy-shared.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { prepareDataDirectory } from '../../setup/data-directory.js'
import { Vault } from '../../vault/vault.js'
import type { Output } from '../terminal/output.js'
import { verify, type VerifyOptions } from './verify.js'

/**
 * `mindledger verify --shared`: verifies the log in PostgreSQL, through a temporary copy. No node has to run, and no node notices. Exit
 * status 0 only when everything is consistent.
 */
export const verifyShared = async (config: Config, options: VerifyOptions, out: Output): Promise<number> => {
  const { logUrl: url, masterKeys } = config
  if (url === undefined) throw new ConfigError('verify --shared verifies the log that LOG_URL names: set it')
  const [key, ...others] = masterKeys
  if (!key) throw new ConfigError('VAULT_KEY: must be set, to tell whether what is encrypted can be read')
  return inOwnDirectory(tmpdir(), 'mindledger-verify-', async (directory) => {
    const paths = prepareDataDirectory(directory)
    const onProgress = (position: number) => out.progress(`${position} events copied`)
    const { position, fault } = await copyShared({ url, file: paths.log, vault: new Vault(key, ...others), onProgress })
    if (fault === undefined) return verify({ ...config, dataDirectory: directory }, options, out)
    out.line(`position ${position + 1}: ${fault}`)
    out.line(`THE LOG DOES NOT HOLD: what follows position ${position} in PostgreSQL cannot be followed`)
    return 1
  })
}
