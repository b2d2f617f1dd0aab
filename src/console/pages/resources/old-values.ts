import { applyPatch, Pointer } from 'rfc6902'
import type { Value } from '../../api/sql.js'
import type { Operation } from '../../components/diff.js'

/** An operation on the member `state` of an object. It gets a copy of the value, because later operations change the original. */
const onState = ({ op, path, value }: Operation) => {
  const place = `/state${path}`
  return op === 'remove' ? { op, path: place } : { op, path: place, value: structuredClone(value) }
}

/**
 * Applies consecutive changes to a copy of the state before the first of them.
 *
 * @param see gets each operation of a change, and the state before that operation
 * @returns the state after the last one
 */
export const replayed = <T extends { diff: Operation[] }>(
  before: Value,
  changes: readonly T[],
  see: (operation: Operation, state: Value, change: T) => void,
): Value => {
  const holder = { state: structuredClone(before) }
  for (const change of changes)
    for (const operation of change.diff) {
      see(operation, holder.state, change)
      applyPatch(holder, [onState(operation)])
    }
  return holder.state
}

/**
 * Consecutive changes, with the old value of each operation. Patches contain only the new values, so they are applied one by one to the
 * state before the first of them.
 *
 * @example withOldValues({ n: 1 }, [{ diff: [{ op: 'replace', path: '/n', value: 2 }] }]) // [{ diff: [{ …, value: 2, was: 1 }] }]
 */
export const withOldValues = <T extends { diff: Operation[] }>(before: Value, changes: readonly T[]): T[] => {
  const old = new Map<Operation, Value>()
  replayed(before, changes, (operation, state) => {
    const was = Pointer.fromJSON(operation.path).get(state) as Value | undefined
    if (operation.op !== 'add' && was !== undefined) old.set(operation, was)
  })
  const told = (operation: Operation): Operation => {
    const was = old.get(operation)
    return was === undefined ? operation : { ...operation, was }
  }
  return changes.map((change) => ({ ...change, diff: change.diff.map(told) }))
}
