import type { Json, JsonObject } from './common.js'

/**
 * What an event's data points at outside the log's text: payloads (encrypted, can be erased) and blobs (content-addressed files).
 * A secret stands in the data as `{"$secret": "<hash of the ciphertext>"}`.
 */
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

/** Hashes of the payloads that an event names: its secrets and its recorded rows. */
export const payloadsOf = (type: string, data: JsonObject): string[] => {
  if (type === 'PredictionsServed') return typeof data['payload'] === 'string' ? [data['payload']] : []
  return secretsOf(data)
}

const blobFields: Record<string, readonly string[]> = {
  FileCreated: ['content'],
  FileReplaced: ['content'],
  ModelTrained: ['artefact', 'matrix'],
}

/** Hashes of the blobs that an event names. */
export const blobsOf = (type: string, data: JsonObject): string[] =>
  (blobFields[type] ?? []).map((field) => data[field]).filter((hash) => typeof hash === 'string')

const blobTypes = Object.keys(blobFields).map((type) => `"type":"${type}"`)

/** Whether the stored text of an event may name blobs; most do not, and need not be parsed to know. */
export const mayNameBlobs = (text: string): boolean => blobTypes.some((type) => text.includes(type))
