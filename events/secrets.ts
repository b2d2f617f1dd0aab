import type { Json } from './common.js'

/** A secret stands in an event's data as `{"$secret": "<hash of the ciphertext>"}`; the ciphertext is a payload. */
export const secretKey = '$secret'

/** The reference that stands in the place of a secret. */
export type SecretReference = { [secretKey]: string }

export const isSecretReference = (value: unknown): value is SecretReference =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 1 && typeof Reflect.get(value, secretKey) === 'string'

const secretsIn = (value: Json, found: string[]): string[] => {
  if (isSecretReference(value)) found.push(value[secretKey])
  else if (Array.isArray(value)) for (const item of value) secretsIn(item, found)
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) secretsIn(item, found)
  return found
}

/** Hashes of the secrets that a value refers to. */
export const secretsOf = (value: Json): string[] => secretsIn(value, [])

/**
 * Whether the stored text of an event may hold secrets: most do not, and this test spares a walk through them. An escape may hide the key.
 */
export const mayNameSecrets = (text: string): boolean => text.includes(secretKey) || text.includes('\\u')
