import { ConfigError, isOnlyLocal, type Config } from '../setup/config.js'
import { egressRule, parseEgress, type EgressPolicy } from './policy.js'

/**
 * The allowed outgoing calls, from the settings. Programs on this machine are only included if no other machine reaches the service,
 * also not through a proxy.
 *
 * @example egressOf(readConfig({ EGRESS_ALLOW: 'db.corp:5432' })).loopback // true
 * @throws ConfigError that names the entry
 */
export const egressOf = (config: Pick<Config, 'host' | 'trustedProxies' | 'egressAllow'>): EgressPolicy => {
  try {
    return parseEgress(config.egressAllow, { loopback: isOnlyLocal(config) })
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigError(`EGRESS_ALLOW: ${error.message}; it ${egressRule}`)
    throw error
  }
}
