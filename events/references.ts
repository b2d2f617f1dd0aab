import { isObject, type Json, type JsonObject } from './common.js'
import type { ErasedPayload } from './log.js'

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

const objectsIn = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter((item) => isObject(item)) : [])
const textsIn = (list: Json | undefined): string[] => (Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [])

/** What an erasure took the keys of. Only a payload that stands here may be without one. */
export const erasedPayloadsOf = (type: string, data: JsonObject): ErasedPayload[] =>
  type !== 'DataErased'
    ? []
    : objectsIn(data['payloads']).flatMap(({ hash, replacement }) =>
        typeof hash === 'string' ? [{ hash, replacement: typeof replacement === 'string' ? replacement : null }] : [],
      )

/** Hashes of the blobs that an erasure took away. An event after it may name the same content again: then it is there again. */
export const erasedBlobsOf = (type: string, data: JsonObject): string[] => (type === 'DataErased' ? textsIn(data['blobs']) : [])

/** Whether an event keeps rows in a payload: predictions that were answered, or what became true of them. */
export const keepsRows = (type: string): boolean => type === 'PredictionsServed' || type === 'OutcomesReported'

/** Hashes of the payloads that an event names: its secrets, its recorded rows, and what an erasure put in the place of another. */
export const payloadsOf = (type: string, data: JsonObject): string[] => {
  if (type === 'DataErased') return erasedPayloadsOf(type, data).flatMap(({ replacement }) => replacement ?? [])
  if (keepsRows(type)) return typeof data['payload'] === 'string' ? [data['payload']] : []
  return secretsOf(data)
}

/** Whether the stored text of an event may hold secrets: most do not, and need not be walked to know. An escape may hide the key. */
export const mayNameSecrets = (text: string): boolean => text.includes(secretKey) || text.includes('\\u')

const blobFields: Record<string, readonly string[]> = {
  FileCreated: ['content'],
  FileReplaced: ['content'],
  ModelTrained: ['artefact', 'matrix'],
}

/** Hashes of the blobs that an event names, so that they have to be there. */
export const blobsOf = (type: string, data: JsonObject): string[] =>
  (blobFields[type] ?? []).map((field) => data[field]).filter((hash) => typeof hash === 'string')

const blobTypes = Object.keys(blobFields).map((type) => `"type":"${type}"`)

/** Whether the stored text of an event may name blobs; most do not, and need not be parsed to know. */
export const mayNameBlobs = (text: string): boolean => blobTypes.some((type) => text.includes(type))
