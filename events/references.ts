import { catalogue } from './catalogue.js'
import { isObject, type Json, type JsonObject } from './common.js'
import type { ErasedPayload } from './records/log.js'
import { secretsOf } from './secrets.js'

// What an event's data points at outside the log's text: payloads (encrypted, can be erased) and blobs (content-addressed files).

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

/** Whether events of a type record something in payloads of their own, beside secrets. */
export const recordsPayloads = (type: string): boolean => (catalogue.get(type)?.payloads.length ?? 0) > 0

/** Whether an event keeps rows in a payload: predictions that were answered, or what became true of them. */
export const keepsRows = (type: string): boolean => type === 'PredictionsServed' || type === 'OutcomesReported'

/** Hashes of the payloads that an event names: its secrets, what it records that can be erased, and what an erasure put in the place of another. */
export const payloadsOf = (type: string, data: JsonObject): string[] => {
  if (type === 'DataErased') return erasedPayloadsOf(type, data).flatMap(({ replacement }) => replacement ?? [])
  const fields = catalogue.get(type)?.payloads ?? []
  if (fields.length > 0) return fields.map((field) => data[field]).filter((hash) => typeof hash === 'string')
  return secretsOf(data)
}

/** Hashes of the blobs that an event names, so that they have to be there. */
export const blobsOf = (type: string, data: JsonObject): string[] =>
  (catalogue.get(type)?.blobs ?? [])
    .filter((field) => field !== 'matrix' || data['matrix_kept'] !== false)
    .map((field) => data[field])
    .filter((hash) => typeof hash === 'string')

const blobTypes = [...catalogue].flatMap(([type, { blobs }]) => (blobs.length > 0 ? [`"type":"${type}"`] : []))

/** Whether the stored text of an event may name blobs; most do not, and need not be parsed to know. */
export const mayNameBlobs = (text: string): boolean => blobTypes.some((type) => text.includes(type))
