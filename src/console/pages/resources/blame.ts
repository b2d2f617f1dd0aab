import { Pointer } from 'rfc6902'
import { isObject, memberOf, type Value } from '../../api/sql.js'
import type { Change, Changes } from './changes.js'
import { replayed } from './old-values.js'
import type { Origin } from './origins.js'

/** The changes behind a value, as far as they are known. */
type BlameNode = {
  /** The newest change that set the value as a whole, or took an entry out of it. */
  own: Change | undefined
  /** The changes behind its parts. Without them, `own` is behind all parts. A member that was removed stays, with its removal. */
  parts: Map<string, BlameNode> | BlameNode[] | undefined
}

/** The last state of a resource, and the changes behind it. */
export type Blamed = { changes: Changes; state: Value; root: BlameNode }

/** A part of a value, by the names that lead to it, and the change that set it. */
export type BlamedPart = { names: readonly string[]; value: Value; change: Change | undefined }

const leaf = (own: Change | undefined): BlameNode => ({ own, parts: undefined })

const namesIn = (place: string): string[] => Pointer.fromJSON(place).tokens.slice(1)

const valueIn = (value: Value | undefined, name: string): Value | undefined =>
  Array.isArray(value) ? value[Number(name)] : isObject(value) ? memberOf(value, name) : undefined

/** The node of a part of a value; undefined if the value has no such part. */
const partIn = ({ own, parts }: BlameNode, value: Value | undefined, name: string): BlameNode | undefined => {
  if (parts === undefined) return valueIn(value, name) === undefined ? undefined : leaf(own)
  return Array.isArray(parts) ? parts[Number(name)] : parts.get(name)
}

/** The parts of a node, each of which gets changes of its own from now on. */
const divided = (node: BlameNode, value: Value | undefined): Map<string, BlameNode> | BlameNode[] => {
  const members = isObject(value) ? Object.keys(value) : []
  node.parts ??= Array.isArray(value) ? value.map(() => leaf(node.own)) : new Map(members.map((name) => [name, leaf(node.own)]))
  return node.parts
}

/** Notes a change at the place of one of its operations. */
const note = (root: BlameNode, state: Value, { op, path }: Change['diff'][number], change: Change): void => {
  const names = namesIn(path)
  const last = names.pop()
  if (last === undefined) {
    Object.assign(root, leaf(change))
    return
  }
  let node = root
  let value: Value | undefined = state
  for (const name of names) {
    divided(node, value)
    const part = partIn(node, value, name)
    if (!part) return
    node = part
    value = valueIn(value, name)
  }
  const parts = divided(node, value)
  if (!Array.isArray(parts)) parts.set(last, leaf(change))
  else if (op === 'remove') {
    parts.splice(Number(last), 1)
    node.own = change
  } else parts.splice(last === '-' ? parts.length : Number(last), op === 'add' ? 0 : 1, leaf(change))
}

/**
 * Finds the changes behind the state that follows from consecutive changes. They are replayed, because the place of an entry in a list
 * depends on all changes after the one that set it.
 */
export const blamed = (changes: Changes): Blamed => {
  const root = leaf(undefined)
  const state = replayed(changes.before, changes.changes, (operation, before, change) => note(root, before, operation, change))
  return { changes, state, root }
}

type Found = { node: BlameNode; value: Value | undefined }

/** What is at a place, such as `/result/accuracy`, or the null that is there instead of `result`; undefined if nothing ever was there. */
const foundAt = ({ root, state }: Blamed, place: string): Found | undefined => {
  let found: Found = { node: root, value: state }
  for (const name of namesIn(place)) {
    if (found.value === null) return found
    const node = partIn(found.node, found.value, name)
    if (!node) return undefined
    found = { node, value: valueIn(found.value, name) }
  }
  return found
}

const newer = (a: Change | undefined, b: Change | undefined): Change | undefined => ((b?.version ?? 0) > (a?.version ?? 0) ? b : a)

/** The newest change behind a value, apart from some of its parts. */
const newestOf = ({ own, parts = [] }: BlameNode, apart?: ReadonlySet<BlameNode>): Change | undefined =>
  [...parts.values()].reduce<Change | undefined>(
    (newest, part) => (apart?.has(part) === true ? newest : newer(newest, newestOf(part))),
    own,
  )

/** The nodes that do not count for an origin. */
const apartOf = (at: Blamed, { but = [] }: Exclude<Origin, string>): ReadonlySet<BlameNode> =>
  new Set(but.flatMap((place) => foundAt(at, place)?.node ?? []))

/**
 * The change that set a member of a record to its value; undefined if no change set it, or none of the loaded ones.
 *
 * @example blameOf(blamed(changes), { at: ['/params'] })?.actor // 'ann'
 */
export const blameOf = (at: Blamed, origin: Origin): Change | undefined => {
  const { changes, from } = at.changes
  if (origin === 'none') return undefined
  if (origin === 'last') return changes.at(-1)
  if (origin === 'first') return from === 0 ? changes[0] : undefined
  const apart = apartOf(at, origin)
  return origin.at
    .map((place) => foundAt(at, place))
    .reduce<Change | undefined>((newest, found) => (found ? newer(newest, newestOf(found.node, apart)) : newest), undefined)
}

const entriesOf = (value: Value): [string, Value][] | undefined =>
  typeof value === 'object' && value !== null ? Object.entries(value) : undefined

/** Whether two values are both lists of the same length, or both objects. */
const areAlike = (one: Value, other: Value | undefined): boolean =>
  Array.isArray(one) ? Array.isArray(other) && other.length === one.length : isObject(other)

/** The parts of a value that is shown; undefined if it is not what the state has. A value that one change set is a single part. */
const partsIn = (
  { node, value: kept }: Found,
  value: Value,
  names: readonly string[],
  apart?: ReadonlySet<BlameNode>,
): BlamedPart[] | undefined => {
  const change = newestOf(node, apart)
  const entries = entriesOf(value)
  if (!entries) return value === kept ? [{ names, value, change }] : undefined
  if (!areAlike(value, kept)) return undefined
  const parts: BlamedPart[] = []
  for (const [name, inner] of entries) {
    const part = partIn(node, kept, name)
    const found = part && partsIn({ node: part, value: valueIn(kept, name) }, inner, [...names, name])
    if (!found) return undefined
    parts.push(...found)
  }
  return parts.every((part) => part.change === change) ? [{ names, value, change }] : parts
}

/** The parts of a value that the state has in another form, each by its origin. A list of another length has entries that are not shown. */
const partsApart = (at: Blamed, value: Value, { value: kept }: Found, origins: Readonly<Record<string, Origin>>): BlamedPart[] => {
  if (Array.isArray(kept) && kept.length !== Object.keys(origins).length) return []
  return (entriesOf(value) ?? []).flatMap(([name, inner]): BlamedPart[] => {
    const origin = origins[name] ?? 'none'
    const parts = partsOf(at, inner, origin)
    if (parts.length === 0) return [{ names: [name], value: inner, change: blameOf(at, origin) }]
    return parts.map(({ names, ...part }) => ({ names: [name, ...names], ...part }))
  })
}

/**
 * The parts of a member's value, at any depth, each of which was set by one change. Empty if one change set all of it, or if the record
 * shows something else than the state of the resource has, such as the record of another resource.
 *
 * @example partsOf(blamed(changes), { tables: ['a', 'b'] }, { at: ['/params'] }) // [{ names: ['tables', '0'], value: 'a', change }, …]
 */
export const partsOf = (at: Blamed, value: Value, origin: Origin): BlamedPart[] => {
  if (typeof origin === 'string') return []
  const [place, ...others] = origin.at
  const found = place === undefined || others.length > 0 ? undefined : foundAt(at, place)
  if (!found) return []
  const parts = origin.parts ? partsApart(at, value, found, origin.parts) : (partsIn(found, value, [], apartOf(at, origin)) ?? [])
  const whole = blameOf(at, origin)
  return parts.every(({ change }) => change === whole) ? [] : parts
}
