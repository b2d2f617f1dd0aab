import type { LedgerCommand } from '../commands/dispatch.js'
import { Ledger, type Execution } from '../commands/ledger.js'
import { isProblem } from '../basics/errors.js'
import type { Log, Origin, Outcome } from '../log/contract/log.js'
import type { Analytics } from '../sql/contract/select.js'
import type { Vault } from '../vault/vault.js'
import type { Metrics } from './metrics.js'

/** What the service's own faults are called; everything else is a refusal. */
const faults = new Set(['internal', 'storage_failed', 'busy'])

const outcomeOf = (error: unknown): 'refused' | 'failed' => (isProblem(error) && !faults.has(error.code) ? 'refused' : 'failed')

/** A ledger whose commands are counted. */
export class ObservedLedger extends Ledger {
  constructor(
    log: Log,
    vault: Vault,
    private readonly metrics: Pick<Metrics, 'command'>,
  ) {
    super(log, vault)
  }

  override async executeAll(commands: readonly LedgerCommand[], origin: Origin, execution: Execution = {}): Promise<Outcome> {
    try {
      const outcome = await super.executeAll(commands, origin, execution)
      for (const { type } of commands)
        this.metrics.command(type, execution.dryRun === true ? 'dry_run' : outcome.repeated ? 'repeated' : 'done')
      return outcome
    } catch (error) {
      for (const { type } of commands) this.metrics.command(type, outcomeOf(error))
      throw error
    }
  }
}

const codeOf = (error: unknown, isGone: boolean): string => (isGone ? 'cancelled' : isProblem(error) ? error.code : 'internal')

/** Whatever answers SELECTs, counted and timed until the first rows. */
export const observedAnalytics = (analytics: Analytics, metrics: Pick<Metrics, 'queried'>): Analytics => ({
  query: async (request, options) => {
    const began = performance.now()
    const over = (outcome: string) => metrics.queried(outcome, (performance.now() - began) / 1000)
    try {
      const stream = await analytics.query(request, options)
      over('ok')
      return stream
    } catch (error) {
      over(codeOf(error, options.signal?.aborted === true))
      throw error
    }
  },
})
