import { Problem } from '../../../src/basics/errors.js'
import { Ledger } from '../../../src/commands/ledger.js'
import type { LedgerCommand } from '../../../src/commands/dispatch.js'
import type { Log, Outcome } from '../../../src/log/contract/log.js'
import type { Vault } from '../../../src/vault/vault.js'

/** A ledger that loses its first answer to a command of each of these types, after the command was recorded. */
export class ForgetfulLedger extends Ledger {
  readonly #forgets: Set<LedgerCommand['type']>

  constructor(log: Log, vault: Vault, types: readonly LedgerCommand['type'][]) {
    super(log, vault)
    this.#forgets = new Set(types)
  }

  override async execute(...asked: Parameters<Ledger['execute']>): Promise<Outcome> {
    const outcome = await super.execute(...asked)
    if (this.#forgets.delete(asked[0].type)) throw new Problem('outcome_unknown', 'Outcome unknown', 'the answer was lost')
    return outcome
  }
}
