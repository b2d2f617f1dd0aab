import { applyPatch, Pointer } from 'rfc6902'
import type { Value } from '../../api/sql.js'
import type { Operation } from '../../components/diff.js'

/** An operation on the member `state` of an object. It gets a copy of the value, because later operations change the original. */
const onState = ({ op, path, value }: Operation) => {
  const place = `/state${path}`
  return op === 'remove' ? { op, path: place } : { op, path: place, value: structuredClone(value) }
}

/**
 * Consecutive changes, with the old value of each operation. Patches contain only the new values, so they are applied one by one to the
 * state before the first of them.
 *
 * @example withOldValues({ n: 1 }, [{ diff: [{ op: 'replace', path: '/n', value: 2 }] }]) // [{ diff: [{ …, value: 2, was: 1 }] }]
 */
export const withOldValues = <T extends { diff: Operation[] }>(before: Value, changes: readonly T[]): T[] => {
  const holder = { state: before }
  return changes.map((change) => ({
    ...change,
    diff: change.diff.map((operation): Operation => {
      const done = onState(operation)
      const was = Pointer.fromJSON(done.path).get(holder) as Value | undefined
      applyPatch(holder, [done])
      return operation.op === 'add' || was === undefined ? operation : { ...operation, was }
    }),
  }))
}
