import { json } from './request.js'

/** The part of JSON Schema that the API's document uses for bodies. */
type Schema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  items?: Schema
  description?: string
  examples?: string[]
  enum?: string[]
}

type Document = {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
  components?: { schemas?: Record<string, Schema> }
}

/** The form field for a member of a body. `mixed` is a text or a JSON object, and `choice` one of a few texts. */
export type Field = {
  name: string
  form: 'text' | 'number' | 'flag' | 'list' | 'object' | 'mixed' | 'choice'
  isRequired: boolean
  description: string | undefined
  /** The values that the document proposes; those of a choice are all that it has. */
  examples: readonly string[]
}

/** The fields of a body. They are inside one of its members, such as `agent`. */
export type BodyForm = { member: string; fields: Field[] }

let known: Promise<Document> | undefined

const load = (): Promise<Document> => {
  known ??= json<Document>('openapi.json').catch((error: unknown) => {
    known = undefined
    throw error
  })
  return known
}

const resolved = (document: Document, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolved(document, document.components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {})

/** All types that a value may have according to a schema. */
const typesOf = (document: Document, schema: Schema): Set<string> => {
  const { type, anyOf } = resolved(document, schema)
  const own = type === undefined ? [] : [type].flat()
  return new Set([...own, ...(anyOf ?? []).flatMap((one) => [...typesOf(document, one)])].filter((name) => name !== 'null'))
}

/** The examples, or the only values, of a schema or of one of its alternatives. */
const textsOf = (document: Document, schema: Schema, of: 'examples' | 'enum'): string[] => {
  const { [of]: own = [], anyOf = [] } = resolved(document, schema)
  return [...own, ...anyOf.flatMap((one) => textsOf(document, one, of))]
}

const formOf = (types: ReadonlySet<string>): Field['form'] => {
  if (types.has('array')) return 'list'
  if (types.has('object')) return types.has('string') ? 'mixed' : 'object'
  if (types.has('boolean')) return 'flag'
  return types.has('string') || types.size === 0 ? 'text' : 'number'
}

/**
 * The form of a request, from the API's own document.
 *
 * @param path as written in the document
 * @example await bodyForm('post', '/api/projects/{project}/skills') // { member: 'skill', fields: [{ name: 'name', form: 'text', … }, …] }
 * @throws ApiError; Error when the document has no such request
 */
export const bodyForm = async (method: 'post' | 'put', path: string): Promise<BodyForm> => {
  const document = await load()
  const schema = document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema
  if (!schema) throw new Error(`The API has no ${method.toUpperCase()} ${path}`)
  const body = resolved(document, schema)
  const [[member, inner] = []] = Object.entries(body.properties ?? {}).filter(([name]) => body.required?.includes(name))
  if (member === undefined || inner === undefined) throw new Error(`The body of ${path} has no form`)
  const { properties = {}, required = [] } = resolved(document, inner)
  const fields = Object.entries(properties).map(([name, one]): Field => {
    const values = textsOf(document, one, 'enum')
    const isChoice = values.length > 0
    return {
      name,
      form: isChoice ? 'choice' : formOf(typesOf(document, one)),
      isRequired: required.includes(name),
      description: resolved(document, one).description,
      examples: isChoice ? values : textsOf(document, one, 'examples'),
    }
  })
  return { member, fields }
}
