/**
 * Room: signed heads of the log, and comparisons with other logs and with tables. It imports only events, projections, basics, setup, log,
 * dialect and sql-process.
 */

import { Problem } from '../basics/errors.js'
import type { Log, LogTree } from '../log/contract/log.js'
import { checkpointText } from './tlog-checkpoint.js'
import type { NoteSigner } from './note-key.js'

/** The signed head of a size and its root. */
export const signHead = (signer: NoteSigner, size: number, root: Buffer): string =>
  signer.sign(checkpointText({ origin: signer.name, size, root }))

/** The signed heads of a growing log. */
export class Heads {
  constructor(
    private readonly log: LogTree & Pick<Log, 'health'>,
    private readonly signer: NoteSigner,
  ) {}

  /** The public key, as a verifier key. */
  get vkey(): string {
    return this.signer.vkey
  }

  /**
   * The signed head of a size, as a C2SP checkpoint. A node that knows that the shared log is another one by now signs nothing: its own
   * history may be lost, and nobody else would have the events of such a head.
   * @throws Problem 400 when the log has fewer events, 503 on such a node
   */
  async at(size: number): Promise<string> {
    const { shared, unwritable = 'the shared log is another one' } = await this.log.health()
    if (shared?.state === 'other_log')
      throw new Problem('behind', 'Not following', `no head is signed here: ${unwritable}`, {
        hint: 'Ask another node.',
        retryAfterSeconds: 60,
      })
    return signHead(this.signer, size, await this.log.rootAt(size))
  }
}
