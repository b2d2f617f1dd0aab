import type { LedgerCommand } from '../../commands/dispatch.js'
import type { Ledger } from '../../commands/ledger.js'
import type { Outcome } from '../../log/contract/log.js'
import type { Call } from './call.js'
import type { Parameters } from './parameters.js'
import { noContent } from './reply.js'
import { commandHeaders, route, type Input, type Route } from './route.js'

/**
 * Executes a request's command for its caller, with the options of its headers, and notes the outcome.
 *
 * @example await carryOut(ledger, { type: 'PutView', data: { project, view, query, database } }, call)
 * @throws Problem when the command is refused; nothing is recorded then
 */
export const carryOut = async (ledger: Ledger, command: LedgerCommand, call: Call, origin = call.origin()): Promise<Outcome> =>
  call.note(await ledger.execute(command, origin, call.execution()))

/** The earlier outcome of a request with the same idempotency key; undefined if there is none. */
export const carriedOut = async (ledger: Ledger, call: Call): Promise<Outcome | undefined> => {
  const repeated = await ledger.repeated(call.origin(), call.execution())
  return repeated && call.note(repeated)
}

/**
 * Executes a command that is checked or made first. For a repeated request this is left out: what the first one did would make it fail.
 *
 * @example await carryOutOnce(ledger, call, async () => ({ type: 'DeleteView', data: await viewIn(path) }))
 */
export const carryOutOnce = async (ledger: Ledger, call: Call, make: () => LedgerCommand | Promise<LedgerCommand>): Promise<Outcome> =>
  (await carriedOut(ledger, call)) ?? carryOut(ledger, await make(), call)

/**
 * Makes the route of a deletion: it executes the command and answers without a body.
 *
 * @example
 * deletion(ledger, { path: '/views/:view', summary, command: ({ segments: { view } }) => ({ type: 'DeleteView', data: { view } }) })
 */
export const deletion = <const Path extends string>(
  ledger: Ledger,
  of: {
    path: Path
    summary: string
    command: (input: Input<Path, Parameters, undefined>) => LedgerCommand | Promise<LedgerCommand>
  },
): Route =>
  route<Path>({
    ...{ method: 'delete', path: of.path, summary: of.summary },
    commandHeaders,
    answers: { 204: null },
    async handle(input) {
      // After an earlier deletion, the resource that the command needs may no longer exist.
      await carryOutOnce(ledger, input.call, () => of.command(input))
      return noContent
    },
  })
