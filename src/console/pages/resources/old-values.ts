import { applyPatch, Pointer } from 'rfc6902'
import type { Value } from '../../api/sql.js'
import type { Operation } from '../../parts/diff.js'

/** An operation on what stands in the member `state` of an object. It has its own value, since later ones change what it made. */
const onState = ({ op, path, value }: Operation) => {
  const place = `/state${path}`
  return op === 'remove' ? { op, path: place } : { op, path: place, value: structuredClone(value) }
}

/**
 * Changes that follow each other, with what each operation took away. Patches tell only what they put there, so they are followed from
 * the state before the first of them.
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
