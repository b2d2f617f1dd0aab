import { kinds, type Kind, type LedgerEvent } from '../../events/catalogue/catalogue.js'
import type { NewEvent } from '../log/contract/log.js'
import type { Lookup } from '../log/contract/lookups.js'
import type { Decisions } from './rules/decider.js'
import { deciders, type DecidedCommand } from './deciders.js'
import { rollbackKinds, rollbackOf, rollbackTypeOf, type RollbackCommand } from './rollback.js'

export type LedgerCommand = DecidedCommand | RollbackCommand

type Facts = Record<string, unknown>
/** The decision on any command. */
type Handler = {
  /** The kind of the resource that the events belong to; the fact with this name is that resource. Undefined if there is none. */
  subject: Kind | undefined
  /** Whether it only records what already happened. */
  isRecord: boolean
  reads: (command: LedgerCommand) => Record<string, Lookup>
  readsFurther: ((facts: Facts, command: LedgerCommand) => Record<string, Lookup>) | undefined
  decide: (command: LedgerCommand, facts: Facts) => (LedgerEvent | NewEvent)[]
}

// The casts are safe: each command goes to the decider that declares its type, with the facts that this decider declares.
type AnyDecider = Pick<Decisions<never, never>, 'reads' | 'readsFurther' | 'decide'>
const handler = (subject: Kind | undefined, of: AnyDecider, isRecord = false): Handler => ({
  subject,
  isRecord,
  reads: of.reads as Handler['reads'],
  readsFurther: of.readsFurther as Handler['readsFurther'],
  decide: of.decide as Handler['decide'],
})

const decided = Object.entries(deciders).flatMap(([name, decider]) => {
  const subject = kinds.find((kind) => kind === name)
  const commands: Readonly<Record<string, true | 'record'>> = decider.commands
  return Object.entries(commands).map(([type, is]) => [type, handler(subject, decider as AnyDecider, is === 'record')] as const)
})
const takenBack = rollbackKinds.map((kind) => [rollbackTypeOf(kind), handler(kind, rollbackOf(kind))] as const)

/** The handler of each type of command. */
export const handlers = Object.fromEntries<Handler>([...decided, ...takenBack]) as Readonly<Record<LedgerCommand['type'], Handler>>
