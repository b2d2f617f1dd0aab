import type { LedgerCommand } from '../commands/dispatch.js'
import { Ledger, type Execution, type LaterCommand } from '../commands/ledger.js'
import { isProblem } from '../basics/errors.js'
import type { Log, Origin, Outcome } from '../log/contract/log.js'
import type { SelectService } from '../sql/contract/select.js'
import type { Vault } from '../vault/vault.js'
import type { Metrics } from './metrics.js'

/** The problem codes of faults of the service itself; every other problem is a refusal. */
const faults = new Set(['internal', 'storage_failed', 'outcome_unknown', 'busy'])

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

  override executeAll(commands: readonly LedgerCommand[], origin: Origin, execution: Execution = {}): Promise<Outcome> {
    return this.#counted(super.executeAll(commands, origin, execution), () => commands, execution.dryRun)
  }

  override executeLater(make: () => LaterCommand): Promise<Outcome> {
    const made: LedgerCommand[] = []
    const noted = () => {
      const later = make()
      made.push(later.command)
      return later
    }
    return this.#counted(super.executeLater(noted), () => made)
  }

  async #counted(executed: Promise<Outcome>, commands: () => readonly LedgerCommand[], dryRun = false): Promise<Outcome> {
    const count = (outcome: Parameters<Metrics['command']>[1]) => {
      for (const { type } of commands()) this.metrics.command(type, outcome)
    }
    try {
      const outcome = await executed
      count(dryRun ? 'dry_run' : outcome.repeated ? 'repeated' : 'done')
      return outcome
    } catch (error) {
      count(outcomeOf(error))
      throw error
    }
  }
}

const codeOf = (error: unknown, isGone: boolean): string => (isGone ? 'cancelled' : isProblem(error) ? error.code : 'internal')

/** Counts the queries of a service for SELECTs, and measures the time until the first rows. */
export const observedSql = (sqlProcess: SelectService, metrics: Pick<Metrics, 'queried'>): SelectService => ({
  query: async (request, options) => {
    const began = performance.now()
    const over = (outcome: string) => metrics.queried(outcome, (performance.now() - began) / 1000)
    try {
      const stream = await sqlProcess.query(request, options)
      over('ok')
      return stream
    } catch (error) {
      over(codeOf(error, options.signal?.aborted === true))
      throw error
    }
  },
})
