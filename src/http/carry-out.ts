import type { Request, Response } from 'express'
import type { LedgerCommand } from '../commands/dispatch.js'
import type { Ledger } from '../commands/ledger.js'
import type { Outcome } from '../log/log.js'
import { idempotencyOf, note, originOf } from './origin.js'

/**
 * Carries a request's command out, in the name of who asks and once for its `Idempotency-Key`, and notes what it produced.
 *
 * @example await carryOut(ledger, { type: 'DeleteView', data: { project, view } }, req, res)
 * @throws Problem when the command is refused; nothing is recorded then
 */
export const carryOut = async (ledger: Ledger, command: LedgerCommand, req: Request, res: Response): Promise<Outcome> =>
  note(res, await ledger.execute(command, originOf(req, res), idempotencyOf(req)))
