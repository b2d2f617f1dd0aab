import { createPatch, type Operation } from 'rfc6902'
import type { Kind, States } from '../../../events/catalogue/catalogue.js'
import type { Json } from '../../../events/common.js'
import { isSecretReference } from '../../../events/secrets.js'
import { limits } from '../../basics/limits.js'
import { mask } from '../../basics/shown.js'
import { maskSecrets } from '../../vault/seal-secrets.js'

export type { Operation }

/** A model's versions by number, so that a changed version shows as such, wherever it is in the list. */
const shown = (kind: Kind, state: States[Kind] | undefined): unknown => {
  if (state === undefined) return null
  if (kind !== 'model' || !('versions' in state)) return state
  return { ...state, versions: Object.fromEntries(state.versions.map((version) => [version.version, version])) }
}

/** The number of values in a value, counted up to a limit. */
const countValues = (value: unknown, most: number): number => {
  let count = 0
  const waiting = [value]
  while (waiting.length > 0 && count <= most) {
    const next = waiting.pop()
    count += 1
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) waiting.push(member)
  }
  return count
}

/** Whether comparing each value of one list with each of another stays within limits. */
const comparable = (a: readonly unknown[], b: readonly unknown[]): boolean => {
  const most = limits.historyDiffMaxComparisons
  const values = countValues(a, most)
  return values * countValues(b, Math.ceil(most / values)) <= most
}

type Pointer = { toString: () => string }
type Comparer = (before: unknown, after: unknown, at: Pointer) => Operation[] | undefined

/** Cases that the JSON comparison does not handle: secrets, which show only that they changed, and lists that are too long. */
const compare: Comparer = (before, after, at) => {
  if (before === after) return []
  if (isSecretReference(before) || isSecretReference(after)) {
    const same = isSecretReference(before) && isSecretReference(after) && before.$secret === after.$secret
    return same ? [] : [{ op: 'replace', path: at.toString(), value: isSecretReference(after) ? mask : after }]
  }
  if (!Array.isArray(before) || !Array.isArray(after) || comparable(before, after)) return undefined
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ op: 'replace', path: at.toString(), value: after }]
}

/**
 * The state of a resource as patches tell of it: versions of a model by number, and secrets as stars. null stands for no resource.
 *
 * @example patchedState('skill', { name: 's', params: { key: { $secret: '1' } }, … }) // { name: 's', params: { key: '******' }, … }
 */
export const patchedState = (kind: Kind, state: States[Kind] | undefined): Json => maskSecrets(shown(kind, state) as Json)

const masked = (operation: Operation): Operation =>
  'value' in operation ? { ...operation, value: maskSecrets(operation.value as Json) } : operation

/**
 * The JSON Patch (RFC 6902) from one state of a resource to another. null stands for no resource. Secrets show as stars; a changed
 * secret is replaced by stars.
 *
 * @example stateDiff('project', { name: 'a' }, { name: 'b' }) // [{ op: 'replace', path: '/name', value: 'b' }]
 */
export const stateDiff = (kind: Kind, before: States[Kind] | undefined, after: States[Kind] | undefined): Operation[] =>
  createPatch(shown(kind, before), shown(kind, after), compare).map(masked)
