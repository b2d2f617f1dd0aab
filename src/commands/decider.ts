import type { Command, Decider as EmmettDecider } from '@event-driven-io/emmett'
import { evolve, initialState, type EventsOf, type Kind, type LedgerEvent, type States } from '../../events/catalogue.js'
import type { NewEvent } from '../log/contract/log.js'
import type { Lookup } from '../log/contract/lookups.js'
import type { WayBack } from './rules/way-back.js'

/** What commands of one kind of stream there are, and what is decided on each. `Facts` is what `reads` and `readsFurther` ask for. */
export type Decisions<C extends Command, Facts extends object> = {
  /** Every type of command that is decided here. */
  commands: Readonly<Record<C['type'], true>>
  /** Members of the commands, at any depth, whose texts may be secrets: those are sealed before anything is decided. */
  secrets: readonly string[]
  /** What is looked up for a command, in the transaction that will hold its events. */
  reads: (command: C) => Record<string, Lookup>
  /** What is then looked up because of these facts. */
  readsFurther?: (facts: Facts) => Record<string, Lookup>
  /**
   * What happens: the same facts give the same events. An event of another stream than the subject's says its stream.
   * @throws Problem when the command is refused
   */
  decide: (command: C, facts: Facts) => (LedgerEvent | NewEvent)[]
}

/**
 * A kind of resource as emmett's `Decider`, with two deviations: `decide` gets facts of several resources instead of one state,
 * and says as data which (docs/decisions/log/decider-with-facts.md).
 */
export type Decider<K extends Kind, C extends Command, Facts extends object> = Decisions<C, Facts> &
  Pick<EmmettDecider<States[K] | undefined, C, EventsOf[K]>, 'evolve' | 'initialState'> & {
    /** The kind of the resource that the events belong to; the fact of this name is that resource. */
    kind: K
    /** How a resource is taken back to an earlier version of its own; null when it is not. */
    rollback: WayBack<K> | null
  }

/**
 * The decider of a kind: its decisions, with what the catalogue of events knows of its states.
 *
 * @example export const viewDecider = decider('view', { commands: { CreateView: true }, secrets: [], rollback: null, reads, decide })
 */
export const decider = <K extends Kind, C extends Command, Facts extends object, Rollback extends WayBack<K> | null>(
  kind: K,
  decisions: Decisions<C, Facts> & { rollback: Rollback },
): Decider<K, C, Facts> & { rollback: Rollback } => ({
  ...decisions,
  kind,
  evolve: (state, event) => evolve(kind, state, event),
  initialState,
})
