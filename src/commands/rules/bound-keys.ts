import type { JsonObject } from '../../../events/common.js'
import { isSecretReference, secretsOf } from '../../../events/secrets.js'
import { wrong } from '../../basics/errors.js'
import { destinationOf, statedModel } from '../../catalogue/stated-model.js'

type ModelFields = { provider?: string | null; model_name?: string | null; params: JsonObject }

const written = (destination: string | null): string => {
  if (destination === null) return 'no known address'
  return destination.startsWith('http') ? destination : 'another address'
}

/**
 * Refuses a change that would send a kept key to another address. A user who may change the address need not know the key, and could
 * read it at the new address.
 *
 * @throws Problem wrong_arguments that names the key
 */
export const refuseMovedKeys = (before: ModelFields, after: ModelFields): void => {
  const [then, now] = [statedModel(before), statedModel(after)]
  for (const key of now.keys) {
    const { value } = key
    if (!isSecretReference(value)) continue
    const kept = then.keys.find((one) => isSecretReference(one.value) && one.value.$secret === value.$secret)
    if (!kept) continue
    const [from, to] = [destinationOf(kept, then), destinationOf(key, now)]
    if (from === to) continue
    throw wrong(
      `${key.path} was given for ${written(from)}, and this change would send it to ${written(to)}`,
      'Give the key again in the same request, or take it out with null.',
    )
  }
}

/** The parameters of connections that say where their secrets are sent. */
const addresses: ReadonlySet<string> = new Set(['host', 'hosts', 'port', 'url', 'connection_string', 'api_url'])

/**
 * Refuses a change that would send a kept secret of a connection to another address, for the same reason.
 *
 * @throws Problem wrong_arguments that names the secret
 */
export const refuseMovedSecrets = (before: JsonObject, after: JsonObject): void => {
  const moved = [...Object.keys(before), ...Object.keys(after)].find(
    (name) => addresses.has(name.toLowerCase()) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (moved === undefined) return
  const kept = new Set(secretsOf(before))
  const [secret] = Object.entries(after).find(([, value]) => secretsOf(value).some((hash) => kept.has(hash))) ?? []
  if (secret === undefined) return
  throw wrong(
    `${secret} was given for another ${moved}, and this change would send it to the new one`,
    `Give the ${secret} again in the same request, or take it out with null.`,
  )
}
