import { catalogue } from './catalogue.js'
import { isObject, type Json, type JsonObject } from '../common.js'
import type { ErasedPayload } from '../records/log.js'
import { secretsOf } from '../secrets.js'

// The data outside the log's text to which an event refers: payloads (encrypted, can be erased) and blobs (content-addressed files).

const objectsIn = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter((item) => isObject(item)) : [])
const textsIn = (list: Json | undefined): string[] => (Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [])

/** Payloads whose keys an erasure removed. Only a payload in this list may be without a key. */
export const erasedPayloadsOf = (type: string, data: JsonObject): ErasedPayload[] =>
  type !== 'DataErased'
    ? []
    : objectsIn(data['payloads']).flatMap(({ hash, replacement }) =>
        typeof hash === 'string' ? [{ hash, replacement: typeof replacement === 'string' ? replacement : null }] : [],
      )

/** Hashes of the blobs that an erasure removed. A later event may name the same content again: then the blob exists again. */
export const erasedBlobsOf = (type: string, data: JsonObject): string[] => (type === 'DataErased' ? textsIn(data['blobs']) : [])

/** Whether the stored text of an event may erase blobs; most erasures do not, and this test spares parsing them. */
export const mayEraseBlobs = (text: string): boolean => text.includes('"blobs":["')

/** Whether events of a type record something in payloads of their own, beside secrets. */
export const recordsPayloads = (type: string): boolean => (catalogue.get(type)?.payloads.length ?? 0) > 0

/** Whether an event keeps rows in a payload: predictions, or their true values. */
export const keepsRows = (type: string): boolean => type === 'PredictionsServed' || type === 'OutcomesReported'

/** Hashes of the payloads that an event names: its secrets, its erasable records, and the replacements that an erasure wrote. */
export const payloadsOf = (type: string, data: JsonObject): string[] => {
  if (type === 'DataErased') return erasedPayloadsOf(type, data).flatMap(({ replacement }) => replacement ?? [])
  const fields = catalogue.get(type)?.payloads ?? []
  if (fields.length > 0) return fields.map((field) => data[field]).filter((hash) => typeof hash === 'string')
  return secretsOf(data)
}

/** Hashes of the blobs that an event names and that must exist. */
export const blobsOf = (type: string, data: JsonObject): string[] =>
  (catalogue.get(type)?.blobs ?? [])
    .filter((field) => field !== 'matrix' || data['matrix_kept'] !== false)
    .map((field) => data[field])
    .filter((hash) => typeof hash === 'string')

const blobTypes = [...catalogue].flatMap(([type, { blobs }]) => (blobs.length > 0 ? [`"type":"${type}"`] : []))

/** Whether the stored text of an event may name blobs; most do not, and this test spares parsing them. */
export const mayNameBlobs = (text: string): boolean => blobTypes.some((type) => text.includes(type))
