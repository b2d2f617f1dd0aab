import { ConfigError, isLoopback, type Config } from '../setup/config.js'
import { egressRule, parseEgress, type EgressPolicy } from './policy.js'

/**
 * The allowed outgoing calls, from the settings. Programs on this machine are only included if no other machine reaches the service.
 *
 * @example egressOf(readConfig({ EGRESS_ALLOW: 'db.corp:5432' })).loopback // true
 * @throws ConfigError that names the entry
 */
export const egressOf = ({ host, egressAllow }: Pick<Config, 'host' | 'egressAllow'>): EgressPolicy => {
  try {
    return parseEgress(egressAllow, { loopback: isLoopback(host) })
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigError(`EGRESS_ALLOW: ${error.message}; it ${egressRule}`)
    throw error
  }
}
