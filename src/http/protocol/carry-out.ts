import type { Request, Response } from 'express'
import type { LedgerCommand } from '../../commands/dispatch.js'
import type { Ledger } from '../../commands/ledger.js'
import type { Outcome } from '../../log/contract/log.js'
import { executionOf, note, originOf } from './origin.js'
import type { Route } from './route.js'

/**
 * Carries a request's command out, in the name of who asks and as its headers want it, and notes what it produced.
 *
 * @example await carryOut(ledger, { type: 'PutView', data: { project, view, query, database } }, req, res)
 * @throws Problem when the command is refused; nothing is recorded then
 */
export const carryOut = async (ledger: Ledger, command: LedgerCommand, req: Request, res: Response): Promise<Outcome> =>
  note(res, await ledger.execute(command, originOf(req, res), executionOf(req)))

/**
 * Handles a deletion: the request's command is carried out, and there is nothing to show.
 *
 * @example handle: deletion(ledger, (req) => ({ type: 'DeleteView', data: { project: param(req, 'project'), view: param(req, 'view') } }))
 */
export const deletion =
  (ledger: Ledger, commandOf: (req: Request) => LedgerCommand | Promise<LedgerCommand>): Route['handle'] =>
  async (req, res) => {
    // Of a deletion that was carried out before nothing may be left to find the command by.
    const repeated = await ledger.repeated(originOf(req, res), executionOf(req))
    if (repeated) note(res, repeated)
    else await carryOut(ledger, await commandOf(req), req, res)
    res.status(204).end()
  }
