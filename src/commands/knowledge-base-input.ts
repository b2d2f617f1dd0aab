import * as z from 'zod'
import { isObject, jsonObject, resourceName, text, type Json, type JsonObject } from '../../events/common.js'
import type { Chunking } from '../../events/knowledge-base.js'
import { wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'

const columns = z.union([z.array(text).max(limits.knowledgeMaxColumns), text])

/** The settings of a knowledge base in the form of clients, over REST and in `USING`. */
export const knowledgeBaseFields = z.object({
  name: resourceName.nullish(),
  model: text.nullish(),
  embedding_model: jsonObject.nullish(),
  reranking_model: jsonObject.nullish(),
  storage: z.union([text, jsonObject]).nullish(),
  content_columns: columns.nullish(),
  metadata_columns: columns.nullish(),
  id_column: text.nullish(),
  preprocessing: jsonObject.nullish(),
  params: jsonObject.nullish(),
})
export type KnowledgeBaseFields = z.infer<typeof knowledgeBaseFields>

/** The keys that clients also send inside `params`. */
const lifted = ['embedding_model', 'reranking_model', 'content_columns', 'metadata_columns', 'id_column', 'preprocessing'] as const

/** The default chunks of a knowledge base. */
export const defaultChunking: Chunking = { size: 1_000, overlap: 200 }

const whole = (value: Json | undefined, name: string, otherwise: number): number => {
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrong(`preprocessing.${name}: must be a whole number of characters`)
  return value
}

const chunkingKeys = ['chunk_size', 'chunk_overlap', 'type', 'text_chunking_config']

/**
 * How texts are cut: `{ chunk_size, chunk_overlap }`, also inside `text_chunking_config`.
 *
 * @example readChunking({ text_chunking_config: { chunk_size: 500 } }) // { size: 500, overlap: 100 }
 * @throws Problem wrong_arguments
 */
export const readChunking = (preprocessing: JsonObject, before: Chunking = defaultChunking): Chunking => {
  const { type, text_chunking_config: nested } = preprocessing
  if (type !== undefined && type !== null && type !== 'text_chunking')
    throw wrong(`preprocessing.type: ${JSON.stringify(type)} is not known`, 'The only type is text_chunking.')
  const given: JsonObject = { ...preprocessing, ...(isObject(nested) && nested) }
  const other = Object.keys(given).find((key) => !chunkingKeys.includes(key))
  if (other !== undefined)
    throw wrong(`preprocessing.${other} is not a setting`, 'The settings are chunk_size and chunk_overlap, in characters.')
  const size = whole(given['chunk_size'], 'chunk_size', before.size)
  const overlap = whole(given['chunk_overlap'], 'chunk_overlap', Math.min(before.overlap, Math.floor(size / 5)))
  const { knowledgeChunkMinChars: least, knowledgeChunkMaxChars: most } = limits
  if (size < least || size > most) throw wrong(`preprocessing.chunk_size: is ${size}; a chunk has ${least} to ${most} characters`)
  if (overlap < 0 || overlap > size / 2)
    throw wrong(`preprocessing.chunk_overlap: is ${overlap}; it is at least 0 and at most half of the chunk_size ${size}`)
  return { size, overlap }
}

const listed = (value: string | string[]): string[] => {
  const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value
  return [...new Set(names.filter((name) => name !== ''))]
}

const storageOf = (value: string | JsonObject): JsonObject => {
  if (typeof value !== 'string') return value
  const [table = '', ...databases] = value.split('.').reverse()
  return { database: databases.reverse().join('.'), table }
}

const parsed = (fields: KnowledgeBaseFields): KnowledgeBaseFields => {
  const inside = fields.params ?? {}
  const given = Object.fromEntries(lifted.flatMap((key) => (Object.hasOwn(inside, key) ? [[key, inside[key]] as const] : [])))
  const checked = knowledgeBaseFields.safeParse(given)
  if (!checked.success)
    throw wrong(`params.${checked.error.issues[0]?.path.map(String).join('.') ?? ''}: ${checked.error.issues[0]?.message ?? ''}`)
  const own = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
  return { ...checked.data, ...own }
}

const remaining = (params: JsonObject | null | undefined): JsonObject =>
  Object.fromEntries(Object.entries(params ?? {}).filter(([key]) => !lifted.some((one) => one === key)))

/** The settings that a knowledge base can be without; null removes them. */
export const removableSettings = ['reranking_model', 'storage', 'id_column'] as const
export type RemovableSetting = (typeof removableSettings)[number]

/** The given settings, each in the form that a knowledge base stores; `preprocessing` is unchanged. */
export type SentSettings = {
  embedding_model?: JsonObject
  reranking_model?: JsonObject | null
  storage?: JsonObject | null
  content_columns?: string[]
  metadata_columns?: string[]
  id_column?: string | null
  preprocessing?: JsonObject
  params?: JsonObject
}

/**
 * The settings of the command for fields that a client sent. `MODEL = name` names an uploaded model.
 *
 * @example knowledgeSettings({ content_columns: 'title, body', storage: 'pvec.docs' })
 * @throws Problem wrong_arguments
 */
export const knowledgeSettings = (fields: KnowledgeBaseFields): SentSettings => {
  const { model, embedding_model, reranking_model, storage, content_columns, metadata_columns, id_column, preprocessing } = parsed(fields)
  const embedding = embedding_model ?? (model ? { provider: 'onnx', file: model.split('.').at(-1) ?? model } : undefined)
  return {
    ...(embedding && { embedding_model: embedding }),
    ...(reranking_model && { reranking_model }),
    ...(storage && { storage: storageOf(storage) }),
    ...(content_columns && { content_columns: listed(content_columns) }),
    ...(metadata_columns && { metadata_columns: listed(metadata_columns) }),
    ...(id_column && { id_column }),
    ...(preprocessing && { preprocessing }),
    ...(fields.params && { params: remaining(fields.params) }),
  }
}
