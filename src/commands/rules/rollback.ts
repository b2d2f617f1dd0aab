import type { EventsOf, Kind, States } from '../../../events/catalogue/catalogue.js'
import { Problem } from '../../basics/errors.js'
import type { Lookup } from '../../log/contract/lookups.js'

/** How a resource of a kind is rolled back to an earlier state: the conditions, and the events that restore it. */
export type RollbackRule<K extends Kind> = {
  /** Lookups of resources that the earlier state needs or conflicts with. `project` is the name of the resource's project. */
  needs?: (then: States[K], project: string | undefined) => Record<string, Lookup>
  /** @throws Problem when one of these is missing or conflicts */
  check?: (then: States[K], facts: Record<string, unknown>, now: States[K]) => void
  /** `at` is the time of the request. */
  events: (now: States[K], then: States[K], at: string) => EventsOf[K][]
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * The members that differ, with their values in `then`; undefined if none does.
 *
 * @example changed({ a: 1, b: 2 }, { a: 1, b: 3 }, ['a', 'b']) // { b: 3 }
 */
export const changed = <S extends object, N extends keyof S>(
  now: Pick<S, N>,
  then: Pick<S, N>,
  names: readonly N[],
): Partial<Pick<S, N>> | undefined => {
  const differing = names.filter((name) => !same(now[name], then[name])).map((name) => [name, then[name]] as const)
  return differing.length > 0 ? (Object.fromEntries(differing) as Partial<Pick<S, N>>) : undefined
}

/**
 * The rollback events of a kind that has one event for changed members and one for a changed name.
 *
 * @example updatedTo('SkillUpdated', ['type', 'params'], 'SkillRenamed')(now, then) // [{ type: 'SkillRenamed', data: { name: 'rents' } }]
 */
export const updatedTo =
  <U extends string, const N extends readonly string[], R extends string>(updated: U, names: N, renamed: R) =>
  <S extends { name: string } & Record<N[number], unknown>>(now: S, then: S) => {
    const data = changed<S, N[number]>(now, then, names)
    return [...(data ? [{ type: updated, data }] : []), ...(now.name === then.name ? [] : [{ type: renamed, data: { name: then.name } }])]
  }

/** The refusal of a rollback to a state that refers to a deleted resource. */
export const gone = (what: string): Problem =>
  new Problem('not_found', 'Resource not found', `${what} of that version does not exist any more`, {
    hint: 'Create it anew and set it, or choose another version.',
  })
