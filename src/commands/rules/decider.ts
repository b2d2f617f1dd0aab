/**
 * Room: rules that several kinds share when they decide. It imports only events, basics, catalogue, vault, log/contract, log/read and
 * dialect.
 */

import type { Command, Decider as EmmettDecider } from '@event-driven-io/emmett'
import { evolve, initialState, type EventsOf, type Kind, type LedgerEvent, type States } from '../../../events/catalogue/catalogue.js'
import type { NewEvent } from '../../log/contract/log.js'
import type { Lookup } from '../../log/contract/lookups.js'
import type { RollbackRule } from './rollback.js'

/** The commands of one kind of stream and the decisions on them. `Facts` has the results of `reads` and `readsFurther`. */
export type Decisions<C extends Command, Facts extends object> = {
  /**
   * The types of its commands. A `record` only says what already happened, such as an answer that somebody gets. It is recorded even if the
   * run of the job that sent it has ended; other commands of such a run are refused.
   */
  commands: Readonly<Record<C['type'], true | 'record'>>
  /** Members of the commands, at any depth, whose texts may be secrets: these are sealed before the decision. */
  secrets: readonly string[]
  /** The lookups for a command, made in the transaction that stores its events. */
  reads: (command: C) => Record<string, Lookup>
  /** Further lookups that depend on these facts. */
  readsFurther?: (facts: Facts, command: C) => Record<string, Lookup>
  /**
   * Decides the events; pure: the same facts give the same events. An event on another stream than the subject's names its stream.
   * @throws Problem when the command is refused
   */
  decide: (command: C, facts: Facts) => (LedgerEvent | NewEvent)[]
}

/**
 * A kind of resource as emmett's `Decider`, with two deviations: `decide` gets facts about several resources instead of one state,
 * and `reads` declares them as data (docs/decisions/log/decider-with-facts.md).
 */
export type Decider<K extends Kind, C extends Command, Facts extends object> = Decisions<C, Facts> &
  Pick<EmmettDecider<States[K] | undefined, C, EventsOf[K]>, 'evolve' | 'initialState'> & {
    /** The kind of the resource that the events belong to; the fact of this name is that resource. */
    kind: K
    /** How a resource is rolled back to an earlier version; null if it cannot be. */
    rollback: RollbackRule<K> | null
  }

/**
 * Makes the decider of a kind from its decisions and from its states in the catalogue of events.
 *
 * @example export const viewDecider = decider('view', { commands: { CreateView: true }, secrets: [], rollback: null, reads, decide })
 */
export const decider = <K extends Kind, C extends Command, Facts extends object, Rollback extends RollbackRule<K> | null>(
  kind: K,
  decisions: Decisions<C, Facts> & { rollback: Rollback },
): Decider<K, C, Facts> & { rollback: Rollback } => ({
  ...decisions,
  kind,
  evolve: (state, event) => evolve(kind, state, event),
  initialState,
})
