import type { Command } from '@event-driven-io/emmett'
import { kinds, type Kind, type LedgerEvent } from '../../events/catalogue/catalogue.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { byName, byExactName, earlier, type ResourceVersion, type Resource, type Lookup } from '../log/contract/lookups.js'
import { deciders, type RollbackKind } from './deciders.js'
import type { RollbackRule } from './rules/rollback.js'
import { isReadable, namesakes, refuseTakenName, type Namesakes } from './rules/taken-names.js'

/** `now` is the time of the request. */
type Target = { project?: string; name: string; version: number; now: string }
export type RollbackCommand = { [K in RollbackKind]: Command<`RollBack${Capitalize<K>}`, Target> }[RollbackKind]

const isRollbackKind = (kind: Kind): kind is RollbackKind => deciders[kind].rollback !== null

/** The kinds that can be rolled back to an earlier version. */
export const rollbackKinds: readonly RollbackKind[] = kinds.filter(isRollbackKind)

/** The type of the command that rolls a resource of a kind back. `rollbackTypeOf('skill')` → `RollBackSkill` */
export const rollbackTypeOf = (kind: RollbackKind): RollbackCommand['type'] =>
  `RollBack${kind.charAt(0).toUpperCase()}${kind.slice(1)}` as RollbackCommand['type']

/** Each kind's rollback takes its own states; the compiler cannot infer that through a union. */
const wayOf = <K extends RollbackKind>(kind: K) => deciders[kind].rollback as unknown as RollbackRule<K>

type Facts<K extends RollbackKind> = {
  project?: Resource<'project'> | undefined
  found: Resource<K> | undefined
  then: ResourceVersion<K> | undefined
  namesake?: Resource<K> | undefined
} & Record<string, unknown>

const noSuchVersion = <K extends RollbackKind>(kind: K, { name, version }: Target, { version: newest }: Resource<K>): Problem =>
  new Problem('not_found', 'Version not found', `${kind} ${name} has no version ${version}`, {
    hint: newest === 1 ? 'It never changed.' : `Its versions are 1 to ${newest}.`,
  })

const nothingToDo = (kind: Kind, { name, version }: Target): Problem =>
  wrong(`${kind} ${name} is the same as at version ${version}`, 'Choose a version that it differs from.')

const decideOn = <K extends RollbackKind>(kind: K, data: Target, facts: Facts<K>): LedgerEvent[] => {
  const { found, then, namesake } = facts
  if (data.project !== undefined && !facts.project) throw notFound('project', data.project)
  if (!found) throw notFound(kind, data.name)
  if (data.version === found.version) throw nothingToDo(kind, data)
  if (!then) throw noSuchVersion(kind, data, found)
  if (namesake && namesake.stream !== found.stream) throw conflict(kind, then.state.name)
  if (isReadable(kind) && then.state.name !== found.state.name) refuseTakenName(kind, then.state.name, facts as unknown as Namesakes)
  const way = wayOf(kind)
  way.check?.(then.state, facts, found.state)
  if (then.erased.length > 0)
    throw new Problem('not_found', 'Secrets erased', `the secrets that ${kind} ${data.name} had at version ${data.version} were erased`, {
      hint: 'Change it instead, with new secrets.',
    })
  const events = way.events(found.state, then.state, data.now)
  if (events.length === 0) throw nothingToDo(kind, data)
  return events
}

/**
 * The decision to roll a resource back to the state of an earlier version. It is an ordinary change: the history continues.
 *
 * @example rollbackOf('skill').reads({ type: 'RollBackSkill', data: { project: 'shop', name: 'rents', version: 2, now } })
 */
export const rollbackOf = <K extends RollbackKind>(kind: K) => ({
  reads: ({ data: { project, name, version } }: RollbackCommand): Record<string, Lookup> => ({
    ...(project !== undefined && { project: byName('project', project) }),
    [kind]: kind === 'file' ? byExactName(kind, name) : byName(kind, name, project),
    then: earlier(kind, name, version, project),
  }),
  readsFurther: (facts: { project?: Resource<'project'>; then?: ResourceVersion<K> }): Record<string, Lookup> => {
    if (!facts.then) return {}
    const { state } = facts.then
    const project = facts.project?.state.name
    return {
      namesake: byExactName(kind, state.name, project),
      ...(isReadable(kind) && project !== undefined && namesakes(state.name, project)),
      ...wayOf(kind).needs?.(state, project),
    }
  },
  decide: ({ data }: RollbackCommand, facts: Record<string, unknown>): LedgerEvent[] =>
    decideOn(kind, data, { ...facts, found: facts[kind] } as Facts<K>),
})
