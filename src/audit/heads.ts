/**
 * Room: signed heads of the log, and comparisons with other logs and with tables. It imports only events, projections, basics, setup, log,
 * dialect and sql-process.
 */

import type { LogTree } from '../log/contract/log.js'
import { checkpointText } from './tlog-checkpoint.js'
import type { NoteSigner } from './note-key.js'

/** The signed head of a size and its root. */
export const signHead = (signer: NoteSigner, size: number, root: Buffer): string =>
  signer.sign(checkpointText({ origin: signer.name, size, root }))

/** The signed heads of a growing log. */
export class Heads {
  constructor(
    private readonly log: LogTree,
    private readonly signer: NoteSigner,
  ) {}

  /** The public key, as a verifier key. */
  get vkey(): string {
    return this.signer.vkey
  }

  /** The signed head of a size, as a C2SP checkpoint. @throws Problem 400 when the log has fewer events */
  async at(size: number): Promise<string> {
    return signHead(this.signer, size, await this.log.rootAt(size))
  }
}
